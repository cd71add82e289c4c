from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aifactory.data.bpe import BPE
from aifactory.data.corpus import Corpus
from aifactory.data.indexed import IndexedReader
from aifactory.data.normalize import text_digest
from aifactory.data.tokens import SCHEMA, Document, read_docs, write_tokens
from aifactory.errors import FactoryError


def test_plain_text_is_learned_whole_but_for_its_first_token(bpe: BPE, tmp_path: Path) -> None:
    texts = ["acute fracture", "Zoë \ud83d\udc8a".encode("utf-16", "surrogatepass").decode("utf-16"), "a"]
    counts = write_tokens((Document(f"d{n}", "g", t) for n, t in enumerate(texts)), tmp_path, bpe)
    rows = read_docs(tmp_path).to_pylist()
    with IndexedReader(tmp_path / "tokens-00000") as reader:
        for n, (row, text) in enumerate(zip(rows, texts, strict=True)):
            ids = reader[n].tolist()
            assert ids == [*bpe.encode(text), bpe.eod]
            assert (row["tokens"], row["loss_tokens"], row["loss_spans"]) == (len(ids), len(ids) - 1, [1, len(ids)])
            assert reader.read(row["offset"], row["tokens"]).tolist() == ids
            assert (row["doc"], row["group"], row["shard"]) == (f"d{n}", "g", 0)
            assert row["sha256"] == text_digest(text)
    assert counts.documents == 3
    assert counts.tokens == sum(row["tokens"] for row in rows) == counts.loss_tokens + 3
    assert sum(counts.lengths.values()) == 3
    assert read_docs(tmp_path).schema.equals(SCHEMA, check_metadata=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.text(min_size=1), st.text(min_size=1), st.text())
def test_with_answers_exactly_the_tokens_that_hold_a_character_of_one_are_learned(
    tmp_path_factory: pytest.TempPathFactory, bpe: BPE, before: str, answer: str, after: str
) -> None:
    text = f"{before} {answer} {after}"
    span = (len(before) + 1, len(before) + 1 + len(answer))
    directory = tmp_path_factory.mktemp("x")
    documents = [Document("p", "g", "so that the part has one"), Document("d", "g", text, (span,))]
    counts = write_tokens(documents, directory, bpe)
    [(ids, offsets)] = bpe.encode_offsets([text])
    expected = {n for n, (a, b) in enumerate(offsets) if a < span[1] and b > span[0]} - {0}
    if text.isspace() or not expected:
        assert dict(counts.dropped) == {"empty" if text.isspace() else "no loss tokens": 1}
        return
    with Corpus(directory) as corpus:
        learned = {n for start, end in corpus.spans(1) for n in range(start, end)}
    assert learned == expected
    assert len(ids) not in learned


def test_the_end_is_learned_with_an_answer_that_ends_the_text(bpe: BPE, tmp_path: Path) -> None:
    text = "which femur ?\nleft and right"
    counts = write_tokens([Document("d", "g", text, ((0, 5), (14, len(text))))], tmp_path, bpe)
    [row] = read_docs(tmp_path).to_pylist()
    assert row["loss_spans"][0] == 1
    assert row["loss_spans"][-1] == row["tokens"]
    assert counts.loss_tokens == row["loss_tokens"] < row["tokens"] - 1


def test_what_is_left_out_is_counted_by_reason(bpe: BPE, tmp_path: Path) -> None:
    documents = [
        Document("a", "g", ""),
        Document("b", "g", " \n\t"),
        Document("c", "g", "unlearned", ()),
        Document("d", "g", "kept"),
    ]
    counts = write_tokens(documents, tmp_path, bpe, batch=2)
    assert dict(counts.dropped) == {"empty": 2, "no loss tokens": 1}
    assert counts.documents == len(read_docs(tmp_path)) == 1


def test_a_part_without_documents_is_an_error_that_says_what_was_dropped(bpe: BPE, tmp_path: Path) -> None:
    with pytest.raises(FactoryError, match="val: no document is left") as error:
        write_tokens([Document("a", "g", "")], tmp_path / "val", bpe)
    assert "'empty': 1" in str(error.value)
    with pytest.raises(FactoryError, match="dropped: none"):
        write_tokens([], tmp_path / "test", bpe)


@pytest.mark.parametrize("spans", [((0, 99),), ((3, 3),), ((-1, 2),), ((0, 3), (2, 4))])
def test_answers_outside_of_the_text_are_refused(bpe: BPE, tmp_path: Path, spans: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(FactoryError, match=r"answer \d of document number 1 ") as error:
        write_tokens([Document("d6", "g", "fine"), Document("d7", "g", "a text", spans)], tmp_path, bpe)
    assert error.value.code == "span"
    assert "d7" not in str(error.value)
    assert not list(tmp_path.glob("*.idx"))


def test_shards_do_not_depend_on_the_batches_and_are_all_whole(bpe: BPE, texts: list[str], tmp_path: Path) -> None:
    documents = [Document(str(n), "g", text) for n, text in enumerate(texts)]
    one = write_tokens(documents, tmp_path / "one", bpe, shard_bytes=4_000, batch=7)
    two = write_tokens(iter(documents), tmp_path / "two", bpe, shard_bytes=4_000, batch=1000)
    assert one == two
    assert one.shards == len(list((tmp_path / "one").glob("*.idx"))) > 3
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    with Corpus(tmp_path / "one") as corpus:
        assert [corpus.tokens(n).tolist() for n in range(len(corpus))] == [[*bpe.encode(t), bpe.eod] for t in texts]


def test_a_table_that_does_not_fit_its_tokens_is_refused(bpe: BPE, tmp_path: Path) -> None:
    write_tokens([Document("a", "g", "one text")], tmp_path / "a", bpe)
    write_tokens([Document("a", "g", "another longer text")], tmp_path / "b", bpe)
    (tmp_path / "b" / "docs.parquet").replace(tmp_path / "a" / "docs.parquet")
    with pytest.raises(FactoryError, match="different documents") as error:
        Corpus(tmp_path / "a")
    assert error.value.code == "mismatch"
    with pytest.raises(FactoryError, match=r"docs.parquet: no such file"):
        Corpus(tmp_path / "b")
