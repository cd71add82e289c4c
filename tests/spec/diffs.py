"""Sides of diffs, and one in which everything changed."""

from __future__ import annotations

import json
from typing import Any

from aifactory.namespace import FileEntry, Manifest
from aifactory.spec import Context, RunSpec
from aifactory.spec.diff import diff
from aifactory.spec.difference import Diff, Facts, ImageFiles, Side
from tests.spec.factories import IMAGE, OTHER, VERSION, build_spec, evaluate_spec, train_spec

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
