"""Context: recorded beside the spec."""

from __future__ import annotations

import json

import pytest

from aifactory.errors import FactoryError
from aifactory.spec import Context
from tests.spec.factories import evaluate_spec


def test_a_context_without_a_commit_says_so_loudly() -> None:
    assert "NO COMMIT IS KNOWN" in Context().commit_note
    assert Context(commit="abc").commit_note == ""
    assert Context(commit_note="why").commit_note == "why"


def test_a_dirty_tree_needs_the_digest_of_its_diff() -> None:
    with pytest.raises(FactoryError, match="digest of its diff"):
        Context(commit="abc", dirty=True)


def test_a_context_is_read_back_as_it_was_written() -> None:
    context = Context(suites=evaluate_spec().inputs_of("suite"), places={"checkpoint": "/factory/x"}, commit="abc")
    assert Context.load(context.to_bytes()) == context


def test_a_field_that_a_newer_control_plane_wrote_is_passed_over() -> None:
    record = {**json.loads(Context(cluster="gpu").to_bytes()), "invented_later": 3}
    assert Context.load(json.dumps(record).encode()).cluster == "gpu"
    with pytest.raises(FactoryError, match="invented_later"):
        Context(invented_later=3)  # type: ignore[call-arg]


def test_a_context_of_an_older_release_says_nothing_of_what_it_did_not_record() -> None:
    newer = {"shape", "site", "image_reference"}
    record = json.loads(Context(cluster="gpu", queue="night").to_bytes())
    older = Context.load(json.dumps({name: value for name, value in record.items() if name not in newer}).encode())
    assert (older.queue, older.shape, older.site, older.image_reference) == ("night", None, None, None)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff"])
def test_a_torn_context_is_refused(data: bytes) -> None:
    with pytest.raises(FactoryError) as caught:
        Context.load(data)
    assert caught.value.code == "context"


def test_a_resolution_keeps_who_resolved_for_what_and_not_where() -> None:
    resolution = Context(recipe="tiny", line="public/models/tiny", cluster="gpu", commit="abc").resolution()
    assert resolution["recipe"] == "tiny"
    assert not {"cluster", "queue", "root"} & set(resolution)
