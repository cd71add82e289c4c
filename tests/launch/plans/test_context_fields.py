"""Nothing of the context is in the hash: each field is changed as a person or the machine would change it.

Fields are read from the type: a new one that no case changes fails here.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from aifactory.launch import EvaluateTarget, Plan, plan
from aifactory.namespace import Namespace
from aifactory.spec import Context, freeze
from tests.launch.kuberay.cases import example
from tests.launch.lab import Lab
from tests.launch.published import BPE, READY, RECIPE, SUITE, checkpoint, publish, publish_all, tiny

Change = Callable[[Lab], Plan]


def other_name() -> object:
    """The same config under another name."""
    return tiny()


ASKED: dict[str, dict[str, Any]] = {
    "cluster": {"cluster": "elsewhere"},
    "queue": {"queue": "fast"},
    "priority": {"priority": "high"},
    "shape": {"shape": "8xh200"},
    "requester": {"requester": "person:bob"},
    "parent_run": {"parent_run": "train-tiny-000000000001"},
    "origin": {"origin": "a-dagster-run/train"},
    "deadline_seconds": {"deadline_seconds": 5.0},
    "stall_seconds": {"stall_seconds": 5.0},
    "prefetch": {"prefetch": True},
    "allow": {"allow": ["dirty"], "why": "an urgent night"},
    "why": {"allow": ["dirty"], "why": "another reason"},
}
"""What is asked for at a launch."""
DECLARED: dict[str, dict[str, Any]] = {
    "recipe": {"function": other_name},
    "line": {"line": "public/models/other"},
    "suites": {"scored_on": ()},
    "baseline": {"compared_with": "small"},
}
"""What a recipe declares beside its config."""


def made(lab: Lab, recipe: Any = RECIPE, **asked: Any) -> Plan:
    return plan(recipe, project=lab.project, ns=lab.ns, **asked)


def other_suite(lab: Lab) -> Plan:
    publish(lab.ns, SUITE, "suite", {"test/items": "other items"}, checks={"unique": True})
    return made(lab)


def other_root(lab: Lab) -> Plan:
    shutil.copytree(lab.ns.root, lab.ns.root.with_name("elsewhere"), symlinks=True)
    return plan(RECIPE, project=lab.project, ns=Namespace(lab.ns.root.with_name("elsewhere")))


def pinned(lab: Lab) -> Plan:
    return made(lab, pins=[f"{READY}@{lab.ns.resolve(READY).version[:16]}"])


def git(lab: Lab, *arguments: str) -> None:
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@lab.invalid")
    subprocess.run(["git", *identity, *arguments], cwd=lab.project.root, check=True, capture_output=True)


def committed(lab: Lab) -> Plan:
    (lab.project.root / ".gitignore").write_text(".aifactory/\n")
    git(lab, "init", "--quiet")
    git(lab, "add", "--all")
    git(lab, "commit", "--quiet", "--message", "all")
    return made(lab)


def dirty(lab: Lab) -> Plan:
    lab.write("docs/notes.md", "In no image.\n")
    return made(lab)


def granted(lab: Lab) -> Plan:
    """Two projects, whose datasets are in the data image alone, and a grant between them."""
    for name in ("clinic", "oncology"):
        lab.write(f"assets/private/{name}.py", "")
    grant = 'from = "private/clinic"\nto = "private/oncology"\nwhy = "one study"\n'
    lab.write("pyproject.toml", f"[[tool.aifactory.grants]]\n{grant}")
    return made(lab)


WORLD: dict[str, Change] = {"suites": other_suite, "root": other_root, "pins": pinned}
"""What the namespace around a recipe is like."""


def cases() -> Iterator[tuple[str, Change]]:
    for field, asked in ASKED.items():
        yield field, lambda lab, asked=asked: made(lab, **asked)
    for field, declared in DECLARED.items():
        yield field, lambda lab, declared=declared: made(lab, replace(RECIPE, **declared))
    yield from WORLD.items()


def test_where_a_cluster_has_it_run_leaves_the_hash(own_lab: Lab) -> None:
    publish_all(own_lab.ns)
    before = made(own_lab)
    own_lab.write("clusters.toml", example())
    reference = f"registry.example/train@sha256:{'9' * 64}"
    own_lab.write("images.toml", f'[train]\ndigest = "{before.spec.image.digest}"\nreference = "{reference}"\n')
    after = made(own_lab, cluster="lab")
    for field in CLUSTERS:
        assert getattr(before.context, field) != getattr(after.context, field), field
    assert after.hash == before.hash


CLUSTERS = {"site", "shape", "image_reference"}
CHECKOUT = {"commit", "commit_note", "dirty", "dirty_digest", "grants"}
ELSEWHERE = {"places", "config_schema"}
"""Fields with a test of their own below, as those of the checkout have."""


def test_every_field_of_the_context_is_changed_by_a_case() -> None:
    assert {field for field, _ in cases()} | CHECKOUT | CLUSTERS | ELSEWHERE == set(Context.model_fields)


@pytest.mark.parametrize(("field", "change"), cases(), ids=lambda one: one if isinstance(one, str) else "")
def test_a_change_of_the_context_leaves_the_hash(lab: Lab, field: str, change: Change) -> None:
    publish_all(lab.ns)
    before = made(lab)
    after = change(lab)
    assert getattr(after.context, field) != getattr(before.context, field)
    assert after.hash == before.hash
    assert after.spec.to_bytes() == before.spec.to_bytes()


def test_what_git_says_and_the_grants_of_the_checkout_leave_the_hash(own_lab: Lab) -> None:
    publish_all(own_lab.ns)
    plans = [made(own_lab), committed(own_lab), dirty(own_lab), granted(own_lab)]
    for field in CHECKOUT:
        assert len({getattr(one.context, field) for one in plans}) > 1, field
    assert len({one.hash for one in plans}) == 1


def test_the_config_types_that_resolved_it_are_context(lab: Lab) -> None:
    publish_all(lab.ns)
    before = made(lab)
    freeze(lab.ns, before.spec, {**before.context.resolution(), "config_schema": "0" * 64})
    after = made(lab, before.hash)
    assert (after.hash, after.context.config_schema) == (before.hash, "0" * 64)
    assert before.context.config_schema != after.context.config_schema


def test_where_a_checkpoint_stands_is_context_and_what_is_in_it_identity(lab: Lab) -> None:
    publish_all(lab.ns)
    trained = made(lab)
    places = [checkpoint(lab.ns, trained, f"train-tiny-{n}", step) for n, step in ((1, 4), (2, 4), (3, 5))]
    same, moved, other = (made(lab, EvaluateTarget(place)) for place in places)
    assert same.context.places != moved.context.places
    assert same.hash == moved.hash != other.hash


def test_what_a_recipe_reads_is_identity_although_its_suites_are_not(lab: Lab) -> None:
    versions = publish_all(lab.ns)
    before = made(lab)
    publish(lab.ns, READY, "tokens", {"train/a.bin": "new"}, inputs={BPE: versions[BPE].version})
    assert made(lab).hash != before.hash
