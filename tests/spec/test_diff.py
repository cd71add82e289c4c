"""Diff: what it lists, what counts, and its reviewed text."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.namespace import FileEntry, Manifest
from aifactory.spec import Context, RunSpec
from aifactory.spec.diff import diff
from aifactory.spec.diff_text import lines, summary
from aifactory.spec.difference import Diff, Facts, ImageFiles, Side
from tests.spec.factories import IMAGE, OTHER, VERSION, build_spec, evaluate_spec, small_train, train_spec

GOLDEN = Path(__file__).parents[1] / "golden"
SPECS = {"train": train_spec(), "build": build_spec(), "evaluate": evaluate_spec()}
NEWER, REBUILT = "12" * 32, "34" * 32
OLD_COMMIT, NEW_COMMIT = "a" * 40, "b" * 40
SUITE = "public/icd10cm/chapters"


def side(spec: RunSpec, name: str = "some", **context: Any) -> Side:
    return Side(name, spec, Context(**context).document() if context else {})


def edited(spec: RunSpec, **changes: Any) -> RunSpec:
    """The spec with values at dotted paths of its identity (`__` for a dot) replaced."""
    identity = json.loads(spec.canonical())
    for path, value in changes.items():
        *way, last = path.split("__")
        at = identity
        for step in way:
            at = at[int(step) if isinstance(at, list) else step]
        at[int(last) if isinstance(at, list) else last] = value
    return RunSpec.model_validate(identity)


def manifest(**files: tuple[str, int]) -> Manifest:
    entries = [
        FileEntry(path=f"{part}/a.bin", bytes=rows * 10, sha256=letter * 64, rows=rows, part=part)
        for part, (letter, rows) in sorted(files.items())
    ]
    return Manifest(kind="tokens", access="public", files=tuple(entries))


def change_of(found: Diff, group: str) -> Any:
    (one,) = [one for one in found.changes if one.group == group]
    return one


@pytest.mark.parametrize("kind", SPECS)
def test_a_spec_and_itself_are_identical(kind: str) -> None:
    found = diff(side(SPECS[kind]), side(SPECS[kind]))
    assert (found.verdict, found.changes) == ("identical except: []", ())
    assert list(lines(found)) == ["identical except: []"]


IDENTITY = [
    ("train", {"kind": "smoke"}, "config kind"),
    ("train", {"config__steps": 200}, "config steps"),
    ("train", {"config__model__hidden": 128}, "config model.hidden"),
    ("train", {"config__optimizer__clip": 3}, "config optimizer.clip"),
    ("train", {"config__mix__unit": "token"}, "config mix.unit"),
    ("train", {"config__seed": 7}, "config seed"),
    ("train", {"config__threads": 4}, "config threads"),
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
    except Exception:
        return  # half of it is out of that field's range
    assert diff(side(train_spec()), side(changed)).except_for == (f"config {group}.{name}",)


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


def test_what_a_bare_spec_file_never_recorded_is_no_difference() -> None:
    assert not diff(side(train_spec()), side(train_spec(), recipe="tiny", commit=NEW_COMMIT)).changes


def test_another_commit_counts_as_code_only_with_another_image() -> None:
    old, new = side(train_spec(), commit=OLD_COMMIT), side(train_spec(), commit=NEW_COMMIT)
    facts = Facts(commits=("> b words",))
    assert [one.group for one in diff(old, new, facts).changes] == ["context"]
    new = Side("new", edited(train_spec(), image__digest=NEWER), new.context)
    assert diff(old, new, facts).except_for == ("code commit", "image digest")
    files = {"src/a.py": "1", "locks/train.lock": "1"}
    images = {IMAGE.digest: ImageFiles(files, "a==1\n"), NEWER: ImageFiles(files | {"locks/train.lock": "2"}, "a==2\n")}
    found = diff(old, new, Facts(images=images, commits=("> b words",)))
    assert found.except_for == ("image packages",)
    assert [one.name for one in found.changes if one.group == "context"] == ["commit"]
    assert change_of(found, "image").about == {"packages": {"a": ["1", "2"]}}


def test_a_summary_names_no_file_of_the_data() -> None:
    spec = edited(train_spec(), inputs__0__version=NEWER)
    key = "public/icd10cm/ready"
    manifests = {(key, VERSION): manifest(train=("a", 1)), (key, NEWER): manifest(train=("b", 3), val=("c", 1))}
    one = change_of(diff(side(train_spec()), side(spec), Facts(manifests=manifests)), "data")
    assert summary(one) == "rows 1 -> 3 (+2), bytes 10 -> 30 (+20); 1 added, 1 changed files"


def everything() -> Diff:
    """A month of work on one training: data, a recipe's default, source, lock, and who ran it where."""
    changes = {"inputs__0__version": NEWER, "image__digest": REBUILT, "config__steps": 200, "config__seed": 1}
    key = "public/icd10cm/ready"
    suites = [
        {"role": "suite", "kind": "suite", "key": SUITE, "version": at, "part": "test"} for at in (VERSION, OTHER)
    ]
    old = side(train_spec(), "train-tiny-0123456789ab", commit=OLD_COMMIT, recipe="tiny", suites=(suites[0],))
    new = side(
        edited(train_spec(), **changes),
        "train-tiny-ba9876543210",
        commit=NEW_COMMIT,
        dirty=True,
        dirty_digest="9" * 64,
        recipe="tiny",
        suites=(suites[1],),
        cluster="gpu",
        queue="fast",
    )
    old_files = {"src/aifactory/run.py": "1" * 64, "src/aifactory/gone.py": "1" * 64, "locks/train.lock": "1" * 64}
    new_files = {"src/aifactory/run.py": "2" * 64, "src/aifactory/come.py": "1" * 64, "locks/train.lock": "2" * 64}
    facts = Facts(
        manifests={
            (key, VERSION): manifest(train=("a", 90), val=("b", 5), test=("c", 5)),
            (key, NEWER): manifest(train=("d", 110), val=("b", 5)),
        },
        images={
            IMAGE.digest: ImageFiles(old_files, "numpy==2.1\ntorch==2.14 ; sys_platform == 'linux'\nsix==1.1\n"),
            REBUILT: ImageFiles(new_files, "numpy==2.1\ntorch==2.15 ; sys_platform == 'linux'\nray==2.60\n"),
        },
        commits=("> bbbbbbb Faster steps", "> ccccccc A newer torch"),
    )
    return diff(old, new, facts)


def test_a_diff_is_told_as_reviewed() -> None:
    texts = {
        "diff.txt": "\n".join(lines(everything())) + "\n",
        "diff.json": json.dumps(everything().document(), indent=2) + "\n",
    }
    for name, text in texts.items():
        if os.environ.get("AIFACTORY_GOLDEN") == "write":
            (GOLDEN / name).write_text(text)
        assert (GOLDEN / name).read_text() == text, "review the change, then run this with AIFACTORY_GOLDEN=write"
