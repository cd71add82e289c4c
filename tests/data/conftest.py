from __future__ import annotations

import random
from pathlib import Path

import pytest

from aifactory.data.bpe import BPE, train_bpe
from aifactory.data.tokens import Document, write_tokens

WORDS = "acute chronic fracture of the left femur with delayed healing naïve größe 骨折".split()  # noqa: SIM905


@pytest.fixture(scope="session")
def texts() -> list[str]:
    chance = random.Random(7)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 40))) for _ in range(300)]


@pytest.fixture(scope="session")
def bpe(texts: list[str]) -> BPE:
    return train_bpe(texts, 300)


@pytest.fixture(scope="session")
def part(tmp_path_factory: pytest.TempPathFactory, texts: list[str], bpe: BPE) -> Path:
    """300 documents in several shards, some with answers that are learned alone."""
    directory = tmp_path_factory.mktemp("ready") / "train"
    documents = [
        Document(f"d{n}", f"g{n // 3}", text, None if n % 4 else ((len(text) // 2, len(text)),))
        for n, text in enumerate(texts)
    ]
    write_tokens(documents, directory, bpe, shard_bytes=5_000, batch=32)
    return directory
