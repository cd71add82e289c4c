"""One change of the identity is one field of a diff; what is no identity never counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.spec import Context
from aifactory.spec.diff import diff
from aifactory.spec.diff_text import lines
from aifactory.spec.difference import Side
from tests.spec.diffs import NEW_COMMIT, NEWER, OLD_COMMIT, SPECS, edited, side
from tests.spec.factories import OTHER, VERSION, build_spec, small_train, train_spec

IDENTITY = [
    ("train", {"kind": "smoke"}, "config kind"),
    ("train", {"config__steps": 200}, "config steps"),
    ("train", {"config__model__hidden": 128}, "config model.hidden"),
    ("train", {"config__optimizer__clip": 3}, "config optimizer.clip"),
    ("train", {"config__mix__unit": "token"}, "config mix.unit"),
    ("train", {"config__seed": 7}, "config seed"),
    ("train", {"inputs__0__version": NEWER}, "data mix public/icd10cm/ready"),
    ("train", {"inputs__1__version": NEWER}, "data tokenizer public/icd10cm/bpe8k"),
    ("train", {"inputs__1__key": "public/icd10cm/bpe4k"}, "data tokenizer public/icd10cm/bpe8k"),
    ("train", {"image__digest": NEWER}, "image digest"),
    ("train", {"image__name": "data"}, "image name"),
    ("build", {"config__code_version": "2"}, "code code_version"),
    ("build", {"config__function": "assets.public.icd10cm:other"}, "code function"),
    ("build", {"config__parameters__fraction": 0.25}, "config parameters.fraction"),
    ("build", {"config__parameters__a.b": True}, 'config parameters."a.b"'),
    ("build", {"config__checks__0__parameters__exact": 5}, "config checks[rows].parameters.exact"),
    ("build", {"config__checks__0__name": "all"}, "config checks[rows].name"),
    ("build", {"config__checks": []}, "config checks[rows]"),
    ("build", {"config__benchmark": True}, "config benchmark"),
    ("build", {"inputs__0__role": "codes"}, "data codes public/icd10cm/raw"),
    ("build", {"inputs__0__part": "val"}, "data public/icd10cm/raw"),
    ("build", {"inputs": []}, "data public/icd10cm/raw"),
    ("evaluate", {"config__batch": 8}, "config batch"),
    ("evaluate", {"inputs__0__version": NEWER}, "data checkpoint public/models/tiny"),
    ("evaluate", {"inputs__1__part": None}, "data suite public/icd10cm/chapters"),
]


@pytest.mark.parametrize(("kind", "changes", "name"), IDENTITY)
def test_one_identity_change_is_one_field(kind: str, changes: dict[str, Any], name: str) -> None:
    spec = edited(SPECS[kind], **changes)
    assert spec.hash != SPECS[kind].hash
    for old, new in ((SPECS[kind], spec), (spec, SPECS[kind])):
        assert len(diff(side(old), side(new)).changes) == 1
    assert diff(side(SPECS[kind]), side(spec)).except_for == (name,)


scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text("ab.", max_size=2)
parameters = st.dictionaries(
    st.text("abc.", min_size=1, max_size=2),
    st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["key", "name", "x"]), inner, max_size=3)
            | st.lists(st.fixed_dictionaries({"name": st.text("ab", max_size=2), "x": inner}), max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=3,
)


@given(parameters, parameters)
def test_a_diff_is_empty_exactly_when_the_hashes_are_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    specs = [edited(build_spec(), config__parameters=value) for value in (one, other)]
    found = diff(side(specs[0]), side(specs[1]))
    assert (not found.except_for) == (specs[0].hash == specs[1].hash)
    assert not diff(side(specs[0]), side(specs[0])).changes
    assert len(found.except_for) == len(set(found.except_for))
    assert list(lines(found))
    assert json.dumps(found.document())


@given(st.data())
def test_any_one_scalar_of_a_config_is_one_field(data: st.DataObject) -> None:
    identity = json.loads(train_spec().canonical())["config"]
    paths = [
        (group, name)
        for group, inner in identity.items()
        if isinstance(inner, dict)
        for name, value in inner.items()
        if isinstance(value, float) and value
    ]
    group, name = data.draw(st.sampled_from(paths))
    try:
        changed = train_spec(small_train().resolved(8192).evolve({f"{group}.{name}": identity[group][name] * 0.5}))
    except FactoryError:
        return  # half of it is out of that field's range
    assert diff(side(train_spec()), side(changed)).except_for == (f"config {group}.{name}",)


refs = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["one", "two"]),
        "kind": st.just("dataset"),
        "key": st.sampled_from(["public/a/one", "public/a/two", "public/b/one"]),
        "version": st.sampled_from([VERSION, OTHER, NEWER]),
        "part": st.sampled_from([None, "train", "val"]),
    }
)


@given(st.lists(refs, min_size=1, max_size=5), st.data())
def test_one_change_of_one_input_is_one_field(inputs: list[dict[str, Any]], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(inputs) - 1))
    name = data.draw(st.sampled_from(["role", "key", "version", "part", "removed"]))
    after = [dict(one) for one in inputs]
    if name == "removed":
        del after[index]
    else:
        after[index][name] = data.draw(refs)[name]
    try:
        specs = [edited(build_spec(), inputs=some) for some in (inputs, after)]
    except FactoryError:
        return  # two inputs of one name are no spec
    found = diff(side(specs[0]), side(specs[1]))
    assert len(found.changes) == (specs[0].hash != specs[1].hash)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "recipe": st.sampled_from(["a", "b"]),
            "cluster": st.sampled_from(["local", "gpu"]),
            "queue": st.none() | st.just("fast"),
            "requester": st.sampled_from(["person:a", "person:b"]),
            "commit": st.sampled_from([OLD_COMMIT, NEW_COMMIT]),
            "places": st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"])),
            "deadline_seconds": st.none() | st.floats(1, 9),
        },
    ),
    st.sampled_from(list(SPECS)),
)
def test_context_is_listed_and_never_counts(context: dict[str, Any], kind: str) -> None:
    plain = Side("a", SPECS[kind], Context(commit=OLD_COMMIT).document())
    found = diff(plain, Side("b", SPECS[kind], Context(**context).document()))
    assert found.verdict == "identical except: []"
    assert {one.group for one in found.changes} <= {"context"}
