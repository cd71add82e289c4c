"""Copying big files: each byte is read once, hashed on its way, and told as progress."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

from aifactory.store import writing

CHUNK = 8 << 20


type Told = Callable[[int, int], None]
"""Bytes that are copied, and bytes in all."""


def every(seconds: float, say: Callable[[str], None]) -> Told:
    """What tells people how far a copy is, at most once in so many seconds."""
    due = time.monotonic() + seconds

    def told(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + seconds
            say(f"copied {done:,} of {total:,} bytes")

    return told


def copy_hashed(source: Path, target: Path, told: Callable[[int], None]) -> tuple[int, str]:
    """Copy the bytes of one file into a new one; size in bytes and SHA-256 of what was read.

    `told` gets the bytes of each chunk as they are written. Raises FactoryError "disk_full" and "read_only".
    """
    sha256, size = hashlib.sha256(), 0
    with writing(target), source.open("rb", buffering=0) as file, target.open("xb", buffering=0) as made:
        buffer = memoryview(bytearray(CHUNK))
        while count := file.readinto(buffer):
            left = buffer[:count]
            sha256.update(left)
            size += count
            while left:
                left = left[made.write(left) :]
            told(count)
    return size, sha256.hexdigest()
