from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.namespace import Grant, access

A, B, C = "private/a", "private/b", "private/c"
classes = st.sampled_from(["public", A, B, C])
grants = st.lists(
    st.sampled_from([Grant(*pair, "board, 2026-01-01") for pair in itertools.permutations([A, B, C], 2)]), max_size=4
)


@pytest.mark.parametrize(
    ("inputs", "derived"),
    [([], "public"), (["public"], "public"), (["public", A], A), ([A, A], A), ([A, "public", A], A)],
)
def test_public_comes_from_public_only_and_one_private_input_decides(inputs: list[str], derived: str) -> None:
    assert access.derive(inputs) == derived


def test_two_projects_need_a_written_grant_and_it_says_where_to() -> None:
    with pytest.raises(FactoryError) as caught:
        access.derive([A, B])
    assert caught.value.code == "class"
    assert "private/a, private/b" in str(caught.value)
    assert "grant" in caught.value.fix
    assert access.derive([A, B], [Grant(A, B, "board")]) == B
    assert access.derive([A, B, "public"], [Grant(B, A, "board")]) == A
    with pytest.raises(FactoryError, match="several classes"):
        access.derive([A, B], [Grant(A, B, "board"), Grant(B, A, "board")])
    with pytest.raises(FactoryError):
        access.derive([A, B, C], [Grant(A, B, "board")])


def test_a_class_lower_than_its_inputs_is_refused_and_the_edge_named() -> None:
    inputs = {"public/medquad/clean": "public", "private/a/notes": A}
    with pytest.raises(FactoryError) as caught:
        access.check("public", inputs, output="public/mix")
    assert "private/a/notes -> public/mix" in str(caught.value)
    assert "public/medquad/clean" not in str(caught.value)
    assert (caught.value.found, caught.value.expected) == ("public", A)
    assert caught.value.fix == "move it under private/a"
    assert caught.value.code == "class"


def test_a_class_higher_than_its_inputs_is_fine() -> None:
    access.check(A, {"public/medquad/clean": "public"})


def test_another_project_is_refused_without_a_grant_in_that_direction() -> None:
    inputs = {"private/a/notes": A}
    access.check(B, inputs, [Grant(A, B, "board")])
    with pytest.raises(FactoryError, match="private/a/notes -> private/b/mix") as caught:
        access.check(B, inputs, [Grant(B, A, "board")], output="private/b/mix")
    assert "grant from private/a to private/b" in caught.value.fix


@given(st.lists(classes, max_size=4), grants)
def test_what_is_derived_may_be_made_and_nothing_private_becomes_public(
    inputs: list[str], written: list[Grant]
) -> None:
    named = {f"input{n}": one for n, one in enumerate(inputs)}
    if any(one != "public" for one in inputs):
        with pytest.raises(FactoryError):
            access.check("public", named, written)
    try:
        derived = access.derive(inputs, written)
    except FactoryError:
        assert len(set(inputs) - {"public"}) > 1
    else:
        access.check(derived, named, written)
        assert access.derive(reversed(inputs), reversed(written)) == derived
        assert access.derive([*inputs, *inputs, "public"], written) == derived


@pytest.mark.parametrize("pair", [("public", A), (A, "public")])
def test_no_grant_reaches_public(pair: tuple[str, str]) -> None:
    with pytest.raises(FactoryError, match="grant"):
        Grant(*pair, "board")


def test_a_grant_gives_a_reason() -> None:
    with pytest.raises(FactoryError, match="no reason"):
        Grant(A, B, " ")


@pytest.mark.parametrize("text", ["", "Public", "private", "private/", "private/a/b", "private/A", "other/a"])
def test_a_class_has_two_forms(text: str) -> None:
    with pytest.raises(FactoryError):
        access.derive([text])
