"""The loss of a model that knows only how often each token occurs: what a trained one has to beat."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aifactory.data.corpus import Corpus


def unigram_entropy(directory: Path) -> float:
    """Nats per token of the unigram distribution over the tokens that are learned in this part (its own entropy)."""
    with Corpus(directory) as corpus:
        counts = np.zeros(0, dtype=np.int64)
        for chunk in _chunks(corpus):
            more = np.bincount(chunk)
            size = max(len(counts), len(more))
            counts = np.pad(counts, (0, size - len(counts))) + np.pad(more, (0, size - len(more)))
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _chunks(corpus: Corpus, size: int = 1 << 20) -> Iterator[npt.NDArray[Any]]:
    pending: list[npt.NDArray[Any]] = []
    held = 0
    for tokens in corpus.learned_tokens():
        pending.append(tokens)
        held += len(tokens)
        if held >= size:
            yield np.concatenate(pending)
            pending, held = [], 0
    if pending:
        yield np.concatenate(pending)
