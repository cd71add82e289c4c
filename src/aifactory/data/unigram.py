"""The loss of a model that knows only how often each token occurs: what a trained one has to beat."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aifactory.data.indexed import IndexedReader
from aifactory.data.tokens import read_docs

UNIGRAM_TOKENS = 20_000_000


def unigram_loss(part: Path, vocabulary: int) -> float:
    """Nats per loss token of a model that knows only how often each token is learned (in the first 20 million tokens).

    It is measured on the tokens that it was counted on: no model that ignores context can do better on them.
    """
    docs = read_docs(part, ["shard", "offset", "loss_spans"])
    shards = docs["shard"].to_numpy()
    offsets = docs["offset"].to_numpy()
    counts = np.zeros(vocabulary, dtype=np.int64)
    read = 0
    for shard in np.unique(shards):
        if read >= UNIGRAM_TOKENS:
            break
        here = np.flatnonzero(shards == shard)
        spans = docs["loss_spans"].combine_chunks().take(here)
        edges = spans.flatten().to_numpy() + np.repeat(offsets[here], spans.value_lengths().to_numpy())
        with IndexedReader(part / f"tokens-{shard:05d}") as reader:
            read += reader.tokens
            change = np.zeros(reader.tokens + 1, dtype=np.int32)
            np.add.at(change, edges[::2], 1)
            np.add.at(change, edges[1::2], -1)
            learned = np.cumsum(change[:-1]) > 0
            counts += np.bincount(reader.read(0, reader.tokens)[learned], minlength=vocabulary)[:vocabulary]
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
