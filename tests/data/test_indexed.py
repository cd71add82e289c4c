from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.data.indexed import IndexedReader, IndexedWriter, token_type
from aifactory.errors import FactoryError

DOCUMENTS = [[1, 2, 3], [4], list(range(100))]


def write(prefix: Path, documents: list[list[int]], vocabulary: int = 1000) -> Path:
    with IndexedWriter(prefix, vocabulary) as writer:
        for document in documents:
            writer.add(document)
    return prefix


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(0, 69_999), min_size=1), min_size=1), st.booleans(), st.booleans())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[int]], mmap: bool, small: bool
) -> None:
    if small:
        documents = [[i % 1000 for i in document] for document in documents]
    prefix = write(tmp_path_factory.mktemp("x") / "tokens-00000", documents, 1000 if small else 70_000)
    with IndexedReader(prefix, mmap=mmap) as reader:
        assert reader.dtype == (np.uint16 if small else np.int32)
        assert [reader[n].tolist() for n in range(len(reader))] == documents
        assert reader.read(0, reader.tokens).tolist() == [i for d in documents for i in d]
        assert reader.tokens == sum(map(len, documents))


def test_megatron_writes_and_reads_the_same_bytes(tmp_path: Path) -> None:
    import torch
    from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder

    for vocabulary, dtype in ((65_535, np.uint16), (65_536, np.int32)):
        documents = [[0, vocabulary - 1], [5], list(range(3000))]
        ours, theirs = write(tmp_path / f"ours-{vocabulary}", documents, vocabulary), tmp_path / f"theirs-{vocabulary}"
        builder = IndexedDatasetBuilder(f"{theirs}.bin", dtype=dtype)
        for document in documents:
            builder.add_document(torch.tensor(document), [len(document)])
        builder.finalize(f"{theirs}.idx")
        for suffix in (".bin", ".idx"):
            assert Path(f"{ours}{suffix}").read_bytes() == Path(f"{theirs}{suffix}").read_bytes()
        read = IndexedDataset(str(ours))
        assert [read[n].tolist() for n in range(len(read))] == documents
        with IndexedReader(theirs) as reader:
            assert [reader[n].tolist() for n in range(len(reader))] == documents
    builder = IndexedDatasetBuilder(f"{tmp_path}/holes.bin", dtype=np.int32)
    for document in ([], [1], []):
        builder.add_document(torch.tensor(document), [len(document)])
    builder.finalize(f"{tmp_path}/holes.idx")
    with IndexedReader(tmp_path / "holes") as reader:
        assert [reader[n].tolist() for n in range(len(reader))] == [[], [1], []]


def test_ids_are_stored_in_two_bytes_up_to_a_vocabulary_of_65535_only() -> None:
    assert token_type(65_535) == np.uint16
    assert token_type(65_536) == np.int32


@pytest.mark.parametrize("bad", [[-1], [1, 1000], [70_000], np.array([2**40])])
def test_ids_out_of_range_are_refused_and_never_wrap(tmp_path: Path, bad: list[int]) -> None:
    writer = IndexedWriter(tmp_path / "t", 1000)
    writer.add([999])
    with pytest.raises(FactoryError, match="out of range") as error:
        writer.add(bad)
    assert (error.value.code, error.value.expected) == ("token_range", "0 to 999")
    writer.finish()
    with IndexedReader(tmp_path / "t") as reader:
        assert [reader[0].tolist()] == [[999]]


def test_empty_and_malformed_documents_are_refused(tmp_path: Path) -> None:
    writer = IndexedWriter(tmp_path / "t", 1000)
    for bad, code in (([], "empty"), ([1.5], "tokens"), ([[1], [2]], "tokens")):
        with pytest.raises(FactoryError) as error:
            writer.add(bad)  # type: ignore[arg-type]
        assert error.value.code == code
    with pytest.raises(FactoryError, match="no documents"):
        writer.finish()


@pytest.mark.parametrize("suffix", [".bin", ".idx"])
@pytest.mark.parametrize("change", [-1, -40, 3])
def test_a_file_of_another_size_is_refused_when_opened_with_both_sizes(
    tmp_path: Path, suffix: str, change: int
) -> None:
    path = Path(f"{write(tmp_path / 't', DOCUMENTS)}{suffix}")
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size + change)
    with pytest.raises(FactoryError, match=str(path)) as error:
        IndexedReader(tmp_path / "t")
    assert error.value.code == "truncated"
    assert str(size) in str(error.value)
    assert str(size + change) in str(error.value)


def test_a_file_cut_after_it_was_opened_gives_an_error_not_zeros(tmp_path: Path) -> None:
    reader = IndexedReader(write(tmp_path / "t", DOCUMENTS), mmap=False)
    with (tmp_path / "t.bin").open("r+b") as file:
        file.truncate(20)
    with pytest.raises(FactoryError, match="20 bytes"):
        reader[2]


def test_damaged_and_missing_files_are_refused(tmp_path: Path) -> None:
    prefix = write(tmp_path / "t", DOCUMENTS)
    whole = (tmp_path / "t.idx").read_bytes()
    for at, value in ((0, b"X"), (9, b"\x02"), (17, b"\x63"), (34 + 12, b"\x07")):
        (tmp_path / "t.idx").write_bytes(whole[:at] + value + whole[at + len(value) :])
        with pytest.raises(FactoryError) as error:
            IndexedReader(prefix)
        assert error.value.code == "format"
    (tmp_path / "t.idx").write_bytes(struct.pack("<9s", b"MMIDIDX"))
    with pytest.raises(FactoryError, match="9 bytes"):
        IndexedReader(prefix)
    (tmp_path / "t.idx").unlink()
    with pytest.raises(FactoryError, match="no such file"):
        IndexedReader(prefix)


def test_a_writer_that_failed_leaves_nothing_that_opens(tmp_path: Path) -> None:
    def fail() -> None:
        with IndexedWriter(tmp_path / "t", 10) as writer:
            writer.add([1])
            writer.add([11])

    with pytest.raises(FactoryError, match="out of range"):
        fail()
    assert not (tmp_path / "t.idx").exists()


def test_reading_outside_and_after_closing_is_an_error(tmp_path: Path) -> None:
    reader = IndexedReader(write(tmp_path / "t", DOCUMENTS), mmap=False)
    assert reader[-1].tolist() == DOCUMENTS[-1]
    for outside in (3, -4):
        with pytest.raises(IndexError):
            reader[outside]
    with pytest.raises(IndexError):
        reader.read(100, 5)
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader[0]
