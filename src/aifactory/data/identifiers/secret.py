"""The key of pseudonyms: who has it can make the same ones again, who has not can't tell whose they are."""

from __future__ import annotations

import base64
import hmac
from hashlib import sha256
from typing import Self

from aifactory.errors import FactoryError

SHORTEST = 32
WEEKS = 104


class Secret:
    """A key. Only its `id` may be written down: 12 hex digits that tell nothing of it."""

    def __init__(self, key: bytes):
        self._key = key
        self.id = self._digest("id").hex()[:12]

    @classmethod
    def of(cls, text: str, where: str) -> Self:
        """From what a file or a variable holds; FactoryError "crossing_key" where that is no key."""
        key = text.strip()
        if len(key) < SHORTEST or len(set(key)) < 8:
            raise FactoryError(
                f"the key of pseudonyms in {where} is too weak",
                found=f"{len(key)} characters, {len(set(key))} different ones",
                expected=f"at least {SHORTEST} characters that nobody can guess",
                fix="make one: (umask 077; openssl rand -hex 32 > KEYFILE)",
                code="crossing_key",
            )
        return cls(key.encode())

    def __repr__(self) -> str:
        return f"<secret {self.id}>"

    def pseudonym(self, label: str, value: str, characters: int = 8) -> str:
        """Letters and digits (5 bits each) that stand for `value`: the same for the same key, label and value."""
        return base64.b32encode(self._digest("pseudonym", label, value)).decode()[:characters]

    def shift(self, patient: str) -> int:
        """By how many days every date of a patient is moved: whole weeks back, 1 to 104, so that weekdays stay."""
        return -7 * (1 + int.from_bytes(self._digest("shift", patient)[:8]) % WEEKS)

    def fingerprint(self, label: str, content: bytes) -> str:
        """64 hex digits of content that nobody can compare with a guess of it."""
        return self._digest("content", label, sha256(content).hexdigest()).hex()

    def _digest(self, *parts: str) -> bytes:
        message = b"".join(len(data := part.encode()).to_bytes(4) + data for part in ("aifactory", *parts))
        return hmac.new(self._key, message, sha256).digest()
