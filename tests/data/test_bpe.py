from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aifactory.data.bpe import BPE, EOD, train_bpe
from aifactory.errors import FactoryError

TRAIN = """
import random, sys
from pathlib import Path
from aifactory.data.bpe import train_bpe
texts = [" ".join(random.Random(n).choices(["abc", "abd", "ab", "cab", "dabc", "ébc"], k=9)) for n in range(400)]
random.Random(sys.argv[2]).shuffle(texts)
train_bpe(iter(texts), 400).save(Path(sys.argv[1]))
"""


def test_training_gives_the_same_bytes_whatever_the_threads_and_the_order(tmp_path: Path) -> None:
    files = []
    for n, threads in enumerate(("1", "2", "4")):
        target = tmp_path / threads
        environment = {**os.environ, "RAYON_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "true"}
        subprocess.run([sys.executable, "-c", TRAIN, str(target), str(n)], check=True, env=environment)
        files.append((target / "tokenizer.json").read_bytes())
    assert files[0] == files[1] == files[2]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text())
def test_any_text_comes_back(bpe: BPE, text: str) -> None:
    ids = bpe.encode(text)
    assert bpe.decode(ids) == text
    assert all(0 < i < bpe.vocabulary for i in ids)
    assert bpe.encode_batch([text, text]) == [ids, ids]


def test_the_end_of_document_is_never_read_from_a_text(bpe: BPE) -> None:
    ids = bpe.encode(f"one{EOD}two")
    assert bpe.eod == 0
    assert bpe.eod not in ids
    assert bpe.decode(ids) == f"one{EOD}two"
    assert bpe.decode([*bpe.encode("one"), bpe.eod]) == "one"


def test_offsets_are_characters_and_cover_the_text(bpe: BPE) -> None:
    text = "größe 骨折 with"
    [(ids, offsets)] = bpe.encode_offsets([text])
    assert ids == bpe.encode(text)
    assert {n for start, end in offsets for n in range(start, end)} == set(range(len(text)))


def test_a_saved_tokenizer_is_canonical_and_loads_from_file_or_directory(bpe: BPE, tmp_path: Path) -> None:
    file = bpe.save(tmp_path)
    again = BPE.load(tmp_path)
    assert BPE.load(file).encode("fracture of") == again.encode("fracture of") == bpe.encode("fracture of")
    assert again.vocabulary == bpe.vocabulary == 300
    assert again.save(tmp_path / "again").read_bytes() == file.read_bytes()
    assert list(json.loads(file.read_text())) == sorted(json.loads(file.read_text()))


def test_few_texts_give_a_smaller_vocabulary_that_holds_every_byte() -> None:
    tokenizer = train_bpe(["a"], 8192)
    assert tokenizer.vocabulary == 257
    assert tokenizer.decode(tokenizer.encode("\x00ÿ💊")) == "\x00ÿ💊"


def test_bad_tokenizers_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FactoryError, match="no such tokenizer"):
        BPE.load(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer.json").write_text('{"version": "1.0", "model"')
    with pytest.raises(FactoryError, match=r"tokenizer.json: not a tokenizer"):
        BPE.load(tmp_path)
    with pytest.raises(FactoryError, match="too small for bytes"):
        train_bpe(["a"], 256)
    with pytest.raises(FactoryError, match="no text"):
        train_bpe([], 300)
