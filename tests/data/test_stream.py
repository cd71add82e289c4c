from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.data.bpe import BPE
from aifactory.data.corpus import Corpus
from aifactory.data.stream import IGNORED, Batch, Counts, Stream
from aifactory.data.tokens import Document, read_docs, write_tokens
from aifactory.errors import FactoryError

ARRAYS = ("tokens", "labels", "positions", "segments")


def same(one: Batch, two: Batch) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ARRAYS) and one.total == two.total


def pieces(batch: Batch) -> list[tuple[list[int], list[int]]]:
    """(tokens, labels) of every piece, in order."""
    found = []
    for row in range(len(batch.tokens)):
        for segment in range(1, int(batch.segments[row].max()) + 1):
            here = batch.segments[row] == segment
            found.append((batch.tokens[row][here].tolist(), batch.labels[row][here].tolist()))
    return found


def epoch(part: Path, context: int, number: int = 0, **options: Any) -> list[tuple[list[int], list[int]]]:
    """The pieces of exactly one epoch."""
    stream, found = Stream(part, context, 3, **options), []
    while stream.state["epoch"] <= number:
        before = stream.state["epoch"]
        batch = stream.batch(1)
        if before == number:
            found += pieces(batch)
    return found


@pytest.mark.parametrize("context", [8, 64, 1024])
def test_every_token_appears_once_per_epoch_and_what_is_learned_is_learned_once(part: Path, context: int) -> None:
    table = read_docs(part)
    total = sum(table["tokens"].to_pylist())
    stream = Stream(part, context, seed=5)
    tokens: list[int] = []
    labels: list[int] = []
    while len(tokens) < 2 * total:
        for piece, label in pieces(stream.batch(1)):
            tokens += piece
            labels += label
    with Corpus(part) as corpus:
        for epoch, start in ((0, 0), (1, total)):
            order = stream.order(epoch).tolist()
            assert tokens[start : start + total] == [token for n in order for token in corpus.tokens(n).tolist()]
            learned = sum(label != IGNORED for label in labels[start : start + total])
            assert learned == sum(table["loss_tokens"].to_pylist())


@pytest.mark.parametrize("context", [8, 64])
def test_labels_are_the_next_token_of_the_same_document_and_nothing_is_predicted_across(
    part: Path, context: int
) -> None:
    with Corpus(part) as corpus:
        expected = {}
        for n in range(len(corpus)):
            ids = corpus.tokens(n).tolist()
            learned = {i for a, b in corpus.spans(n) for i in range(a, b)}
            expected[n] = (ids, [ids[i + 1] if i + 1 in learned else IGNORED for i in range(len(ids))])
        stream = Stream(part, context, seed=1)
        order = stream.order(0).tolist()
    joined, labels = [], []
    while len(joined) < 5000:
        batch = stream.batch(2)
        for piece, label in pieces(batch):
            joined += piece
            labels += label
        padding = batch.segments == 0
        assert (batch.labels[padding] == IGNORED).all()
        assert batch.total == batch.counts
        assert batch.total.tokens + batch.total.padding == 2 * context
        assert batch.total.padding == padding.sum()
        assert batch.total.loss_tokens == (batch.labels != IGNORED).sum()
        assert batch.total.pieces == sum(len(np.unique(row[row > 0])) for row in batch.segments)
    assert joined[:4000] == [t for n in order for t in expected[n][0]][:4000]
    assert labels[:4000] == [t for n in order for t in expected[n][1]][:4000]


def test_positions_restart_and_segments_rise_with_each_piece(part: Path) -> None:
    batch = Stream(part, 64, seed=2).batch(8)
    for positions, segments in zip(batch.positions, batch.segments, strict=True):
        starts = np.flatnonzero(np.diff(segments, prepend=0))
        for start, stop in zip(starts, [*starts[1:], 64], strict=True):
            run = positions[start:stop]
            assert run.tolist() == (list(range(stop - start)) if segments[start] else [0] * (stop - start))
        used = segments[segments > 0]
        assert (np.diff(used) >= 0).all()
        assert sorted(set(used.tolist())) == list(range(1, int(used.max()) + 1))
    assert all(getattr(batch, name).shape == (8, 64) and getattr(batch, name).dtype == np.int64 for name in ARRAYS)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([2, 4, 8]), min_size=1, max_size=12),
    st.integers(0, 11),
    st.sampled_from([8, 33, 200]),
    st.sampled_from([1, 2]),
)
def test_resuming_at_any_step_with_any_number_of_ranks_continues_the_same(
    part: Path, sizes: list[int], stop: int, context: int, ranks: int
) -> None:
    whole = Stream(part, context, seed=9, name="public/x/ready")
    batches = [whole.batch(size) for size in sizes]
    stop = min(stop, len(sizes) - 1)
    state = json.loads(json.dumps(batches[stop].state))
    resumed = [Stream(part, context, 9, name="public/x/ready", state=state) for _ in range(ranks)]
    assert resumed[0].state == state
    for n in range(stop + 1, len(sizes)):
        shares = [stream.batch(sizes[n], rank=rank, ranks=ranks) for rank, stream in enumerate(resumed)]
        for name in ARRAYS:
            together = np.empty_like(getattr(batches[n], name))
            for rank, share in enumerate(shares):
                together[rank::ranks] = getattr(share, name)
            assert np.array_equal(together, getattr(batches[n], name))
        assert sum((share.counts for share in shares), Counts()) == batches[n].counts
        assert {json.dumps(share.state) for share in shares} == {json.dumps(batches[n].state)}
    # A second resume, within the epoch or after it.
    again = Stream(part, context, 9, name="public/x/ready", state=resumed[0].state)
    assert same(again.batch(4), whole.batch(4))


def test_the_state_of_a_batch_is_its_consumers_and_not_the_producers(part: Path) -> None:
    ahead = Stream(part, 64, seed=0)
    prefetched = [ahead.batch(4) for _ in range(5)]
    resumed = Stream(part, 64, 0, state=prefetched[1].state)
    assert same(resumed.batch(4), prefetched[2])
    assert len(json.dumps(prefetched[-1].state)) < 500


def test_epochs_have_orders_of_their_own_that_depend_on_seed_and_name(part: Path) -> None:
    first, second = epoch(part, 64, 0), epoch(part, 64, 1)
    assert first != second
    assert epoch(part, 64, 0) == first
    assert epoch(part, 64, 0, name="other") != first
    assert not same(Stream(part, 64, 1).batch(4), Stream(part, 64, 2).batch(4))


def test_the_stream_runs_on_over_many_epochs_and_counts_them(part: Path) -> None:
    stream = Stream(part, 4096, seed=0)
    for _ in range(20):
        stream.batch(1)
    assert stream.epochs > 3
    assert stream.seen.sequences == 20
    assert stream.seen.documents / 300 == pytest.approx(stream.epochs, abs=0.01)
    assert stream.seen.tokens + stream.seen.padding == 20 * 4096


def test_the_order_is_the_same_forever(part: Path) -> None:
    assert Stream(part, 8, seed=0, name="x").order(2)[:6].tolist() == [38, 72, 181, 283, 165, 235]


@pytest.mark.parametrize("mmap", [True, False])
def test_both_ways_of_reading_give_the_same(part: Path, mmap: bool) -> None:
    assert same(Stream(part, 100, 4, mmap=mmap).batch(6), Stream(part, 100, 4).batch(6))


def test_a_state_of_another_stream_is_refused_with_both_values(part: Path, bpe: BPE, tmp_path: Path) -> None:
    state = Stream(part, 64, seed=1, name="a").batch(1).state
    write_tokens([Document("d", "g", "other text")], tmp_path, bpe)
    for directory, seed, name, key in ((part, 2, "a", "seed"), (part, 1, "b", "name"), (tmp_path, 1, "a", "corpus")):
        with pytest.raises(FactoryError, match="another stream") as error:
            Stream(directory, 64, seed, name=name, state=state)
        assert error.value.code == "state"
        assert list(error.value.found) == [key]  # type: ignore[call-overload]
    for change in ({"cursor": 301}, {"cursor": -1}, {"epoch": -1}, {"offset": 10**6}):
        with pytest.raises(FactoryError, match="out of range"):
            Stream(part, 64, 1, name="a", state={**state, **change})
    with pytest.raises(FactoryError, match="another stream"):
        Stream(part, 64, 1, name="a", state={})


def test_batches_that_ranks_can_not_share_are_refused(part: Path) -> None:
    stream = Stream(part, 64, seed=0)
    for sequences, rank, ranks in ((3, 0, 2), (0, 0, 1), (2, 2, 2), (2, -1, 2)):
        with pytest.raises(FactoryError, match="can't be shared"):
            stream.batch(sequences, rank=rank, ranks=ranks)
    assert stream.state == Stream(part, 64, seed=0).state
    with pytest.raises(FactoryError, match="context"):
        Stream(part, 1, seed=0)


def test_documents_without_tokens_that_megatron_may_have_written_are_passed_over(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from aifactory.data.indexed import IndexedWriter
    from aifactory.data.tokens import SCHEMA

    writer = IndexedWriter(tmp_path / "tokens-00000", 10)
    writer.add([1, 2])
    writer._lengths.insert(0, 0)
    writer.finish()
    rows = [
        {"doc": str(n), "group": "g", "shard": 0, "offset": 0, "tokens": n * 2, "loss_tokens": n, "loss_spans": spans}
        for n, spans in enumerate(([], [1, 2]))
    ]
    pq.write_table(pa.Table.from_pylist([{**row, "sha256": ""} for row in rows], SCHEMA), tmp_path / "docs.parquet")
    batch = Stream(tmp_path, 4, seed=0).batch(1)
    assert batch.tokens.tolist() == [[1, 2, 1, 2]]
    assert batch.total == Counts(sequences=1, documents=2, pieces=2, tokens=4, loss_tokens=2, padding=0)
