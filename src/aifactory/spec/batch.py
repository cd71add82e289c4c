"""Batch: how many sequences make one optimizer step."""

from __future__ import annotations

from aifactory.spec.config import Config, Count


class Batch(Config):
    """`sequences` per optimizer step over all workers; `micro` sequences per forward pass of one worker (left open:
    a worker's whole share in one pass)."""

    sequences: Count = 16
    micro: Count | None = None
