"""Whether token ids are ones that the vocabulary has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from aifactory.namespace import Snapshot

CHUNK = 4_194_304


def token_range(vocabulary: int | None = None) -> Check:
    """Every token id is in [0, vocabulary); the vocabulary's size is that of the tokenizer, unless it is given."""
    return Check("token_range", "token_range", {} if vocabulary is None else {"vocabulary": vocabulary})


def run_token_range(snapshot: Snapshot, vocabulary: int | None = None) -> CheckResult:
    import json

    from aifactory.data.indexed import IndexedReader

    if vocabulary is None:
        about = next((path for path in snapshot.paths() if path.name == "tokens.json"), None)
        if about is None:
            raise FactoryError(
                f"{snapshot.key}: there is no tokens.json that tells the size of the vocabulary",
                fix="give it to the check: token_range(vocabulary=...)",
                code="vocabulary",
            )
        vocabulary = int(json.loads(about.read_text())["vocabulary"])
    tokens = bad = largest = 0
    for path in snapshot.paths():
        if path.suffix != ".bin":
            continue
        with IndexedReader(path.with_suffix("")) as reader:
            for start in range(0, reader.tokens, CHUNK):
                chunk = reader.read(start, min(CHUNK, reader.tokens - start))
                tokens += len(chunk)
                largest = max(largest, int(chunk.max()))
                bad += int(((chunk < 0) | (chunk >= vocabulary)).sum())
    counts = {"tokens": tokens, "out_of_range": bad, "largest": largest, "vocabulary": vocabulary}
    reason = f"{bad} of {tokens} token ids are not below {vocabulary}" if bad else f"{tokens} tokens below {vocabulary}"
    return CheckResult(bad == 0, counts, reason)
