from __future__ import annotations

import keyword
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.namespace import Key, Namespace

GOOD = re.compile(r"[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*)+")
segments = st.from_regex(r"[a-z](_?[a-z0-9]){0,15}", fullmatch=True).filter(
    lambda text: not keyword.iskeyword(text) and text not in {"runs", "specs", "claims", "images", "models"}
)
keys = st.builds(
    lambda root, inner: "/".join([*root, *inner]),
    st.just(["public"]) | segments.map(lambda project: ["private", project]),
    st.lists(segments, min_size=1, max_size=5),
)


def refusal(text: str) -> FactoryError | None:
    try:
        Key(text)
    except FactoryError as error:
        return error
    return None


@given(keys)
def test_a_key_survives_the_way_to_its_directory_and_back(text: str) -> None:
    key, ns = Key.parse(text), Namespace(Path("/nowhere/namespace"))
    assert key == text == "/".join(key.segments)
    assert key.startswith(key.access + "/")
    assert key.name == key.segments[-1]
    assert ns.canonical(ns.directory(key)) == f"/factory/{key}"
    assert ns.local(f"/factory/{key}") == ns.directory(key)
    assert pickle.loads(pickle.dumps(key)) == key
    assert not key.is_line


@given(st.text() | st.text("abz_09/.-@A", max_size=20) | keys.flatmap(lambda key: st.text(max_size=3).map(key.__add__)))
def test_any_other_text_is_refused_with_the_fix(text: str) -> None:
    if refused := refusal(text):
        assert refused.code == "key"
        assert refused.found
        assert refused.expected
        assert refused.fix
    else:
        assert GOOD.fullmatch(text)
        assert "__" not in text
        assert len(text) <= 200


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "empty"),
        ("/public/a", "absolute"),
        ("/factory/public/a", "absolute"),
        ("public/../a", "'..'"),
        ("public/a/..", "'..'"),
        ("..", "'..'"),
        ("public/./a", "'.'"),
        ("public//a", "segment ''"),
        ("public/a/", "segment ''"),
        ("public/Med", "'Med'"),
        ("Public/med", "'Public'"),
        ("public/med-quad", "'med-quad'"),
        ("public/med quad", "'med quad'"),
        ("public/med\0quad", "x00"),
        ("public/a\n", "'a\\n'"),
        ("public/a@1234", "'a@1234'"),
        ("public/@current", "'@current'"),
        ("public/a__b", "'a__b'"),
        ("public/_a", "'_a'"),
        ("public/9a", "'9a'"),
        ("public/é", "'é'"),
        ("public/\u0663", "segment"),
        ("public/class", "'class'"),
        ("public/import/a", "'import'"),
        ("public/" + "a" * 64, "64 characters"),
        ("public" + "/abcdefghi" * 20, "206 characters"),
        ("public", "1 segments"),
        ("private", "1 segments"),
        ("private/oncology", "2 segments"),
        ("internal/a", "'internal'"),
        ("clinic/private/notes", "first segment 'clinic'"),
        ("public/private/notes", "segment 'private' behind 'public'"),
        ("private/public/notes", "segment 'public' behind 'private'"),
        ("private/notes/private/clinic", "segment 'private' behind 'private'"),
        ("public/runs", "'runs'"),
        ("public/specs/a", "'specs'"),
        ("private/oncology/claims/a", "'claims'"),
        ("public/images", "'images'"),
        ("public/models", "public/models alone"),
        ("private/oncology/models", "private/oncology/models alone"),
        ("public/models/tiny/checkpoints", "'checkpoints'"),
        ("public/models/tiny/evaluations", "'evaluations'"),
        ("public/models/tiny/other", "'other'"),
    ],
)
def test_a_hostile_key_is_refused_and_what_is_wrong_is_named(text: str, found: str) -> None:
    with pytest.raises(FactoryError) as caught:
        Key(text)
    assert caught.value.code == "key"
    assert found in str(caught.value.found)
    assert caught.value.expected
    assert caught.value.fix


@pytest.mark.parametrize("value", [None, 3, b"public/a", ["public", "a"]])
def test_what_is_no_text_is_no_key(value: object) -> None:
    with pytest.raises(FactoryError, match="is not a key"):
        Key(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "access", "line"),
    [
        ("public/a", "public", False),
        ("public/runs_of_cells", "public", False),
        ("public/medquad/runs", "public", False),
        ("public/medquad/models", "public", False),
        ("private/oncology/notes/raw", "private/oncology", False),
        ("public/models/tiny", "public", True),
        ("private/oncology/models/tiny", "private/oncology", True),
    ],
)
def test_a_key_knows_its_class_and_whether_it_is_a_line(text: str, access: str, line: bool) -> None:
    assert (Key(text).access, Key(text).is_line) == (access, line)


@pytest.mark.parametrize(
    ("text", "right"),
    [("clinic/notes", "private/clinic/notes"), ("clinic/private/notes", "private/clinic/notes"), ("a", "public/a")],
)
def test_a_project_in_the_wrong_place_is_told_the_right_one(text: str, right: str) -> None:
    with pytest.raises(FactoryError) as caught:
        Key(text)
    assert right in caught.value.fix
    Key(right)


def test_the_fix_for_a_wrong_segment_is_a_right_one() -> None:
    with pytest.raises(FactoryError) as caught:
        Key("public/Med-Quad 2")
    assert "'med_quad_2'" in caught.value.fix
