from __future__ import annotations

import math
from pathlib import Path

import pytest

from aifactory.data.bpe import train_bpe
from aifactory.data.tokens import Document, write_tokens
from aifactory.data.unigram import unigram_loss


def test_it_is_the_entropy_of_the_learned_tokens(tmp_path: Path) -> None:
    bpe = train_bpe(["a"], 257)
    # Learned are the second letter and the end of each document: b, c, b, b and four ends.
    write_tokens([Document(str(n), "", text) for n, text in enumerate(["ab", "ac", "ab", "ab"])], tmp_path, bpe)
    expected = -(0.5 * math.log(0.5) + 0.375 * math.log(0.375) + 0.125 * math.log(0.125))
    assert unigram_loss(tmp_path, bpe.vocabulary) == pytest.approx(expected)


def test_tokens_that_carry_no_loss_do_not_count(tmp_path: Path) -> None:
    bpe = train_bpe(["a"], 257)
    write_tokens([Document("0", "", "xyzb", answers=((3, 4),))], tmp_path, bpe)
    assert unigram_loss(tmp_path, bpe.vocabulary) == pytest.approx(math.log(2))
