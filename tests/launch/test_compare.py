"""What a diff is made from: runs, hashes, files and plans; manifests, images and git."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import plan
from aifactory.launch.compare import compare, side
from aifactory.launch.sources import commits_between
from aifactory.namespace import Namespace
from aifactory.spec import Recipe, Train
from tests.launch.lab import Lab
from tests.launch.published import BPE, READY, RECIPE, TOKENIZER, checkpoint, publish, publish_all, tiny
from tests.spec.test_git import git


def longer() -> Train:
    return tiny().evolve({"steps": 5})


LONGER = Recipe(function=longer, line="public/models/tiny", scored_on=RECIPE.scored_on)


def more_data(ns: Namespace) -> None:
    bpe = publish(ns, BPE, "tokenizer", {"tokenizer.json": TOKENIZER})
    files = {"train/a.bin": "aa", "train/b.bin": "b", "val/a.bin": "b"}
    publish(ns, READY, "tokens", files, inputs={BPE: bpe.version}, checks={"integrity": True})


def commit(lab: Lab, words: str) -> None:
    git(lab.project.root, "add", "-A")
    git(lab.project.root, "commit", "-qm", words)


@pytest.fixture
def git_lab(own_lab: Lab) -> Lab:
    git(own_lab.project.root, "init", "-q")
    own_lab.write(".gitignore", ".aifactory\n__pycache__\n")
    commit(own_lab, "The first")
    publish_all(own_lab.ns)
    return own_lab


def test_a_month_of_changes_is_told_as_four_from_git_alone(git_lab: Lab) -> None:
    lab = git_lab
    first = plan(RECIPE, project=lab.project, ns=lab.ns)
    lock = lab.project.root / "locks" / "train.lock"
    pins = lock.read_text()
    assert "\nnumpy==" in pins
    lock.write_text(pins.replace("\nnumpy==", "\nnumpy==99."))
    commit(lab, "A newer numpy")
    lab.write("src/aifactory/train/faster.py", "STEPS = 1\n")
    commit(lab, "Faster steps")
    more_data(lab.ns)
    second = plan(LONGER, project=lab.project, ns=lab.ns)
    lab.write("src/aifactory/train/faster.py", "STEPS = 2\n")  # neither image is what the checkout makes now
    sides = [side(one.hash[:12], project=lab.project, ns=lab.ns) for one in (first, second)]
    found = compare(*sides, project=lab.project, ns=lab.ns)
    assert found.except_for == ("code source", f"data mix {READY}", "image packages", "config steps")
    code, data, image, config = (one for one in found.changes if one.decides)
    assert [line.split(" ", 2)[2] for line in code.about["commits"]] == ["Faster steps", "A newer numpy"]
    assert code.about["files"] == {"added": ["src/aifactory/train/faster.py"], "removed": [], "changed": []}
    assert data.about["rows"] == [1, 2]
    assert [one["path"] for one in data.about["files"]["added"]] == ["train/b.bin"]
    assert [one["path"] for one in data.about["files"]["removed"]] == ["test/a.bin"]
    assert [one["path"] for one in data.about["files"]["changed"]] == ["train/a.bin"]
    assert list(image.about["packages"]) == ["numpy"]
    assert (config.old, config.new) == (4, 5)


def test_an_image_that_nobody_can_make_again_is_told_by_its_digest(git_lab: Lab) -> None:
    lab = git_lab
    lab.write("src/aifactory/train/faster.py", "STEPS = 1\n")
    dirty = plan(RECIPE, project=lab.project, ns=lab.ns)
    assert dirty.context.dirty
    (lab.project.root / "src/aifactory/train/faster.py").unlink()
    sides = [side(name, project=lab.project, ns=lab.ns) for name in (dirty.hash, str(dirty.path))]
    clean = plan(RECIPE, project=lab.project, ns=lab.ns)
    found = compare(sides[0], side(clean.hash, project=lab.project, ns=lab.ns), project=lab.project, ns=lab.ns)
    assert found.except_for == ("code commit", "image digest")
    assert compare(*sides, project=lab.project, ns=lab.ns).except_for == ()


def test_runs_files_and_hashes_name_the_same(lab: Lab) -> None:
    publish_all(lab.ns)
    planned = plan(RECIPE, project=lab.project, ns=lab.ns, cluster="local", origin="there")
    checkpoint(lab.ns, planned, "train-tiny-0123456789ab", 4)
    directory = lab.ns.root / "public/runs/train-tiny-0123456789ab"
    names = [directory.name, str(directory), str(directory / "spec.json"), str(planned.path), planned.hash[:8]]
    for name in names:
        one = side(name, project=lab.project, ns=lab.ns)
        assert (one.spec.hash, one.context["line"]) == (planned.hash, "public/models/tiny")
    copied = lab.ns.root.parent / "alone.json"
    shutil.copy(planned.path, copied)
    assert side(str(copied), project=lab.project, ns=lab.ns).context == {}


def test_a_snapshot_that_is_gone_is_said_to_be(lab: Lab) -> None:
    publish_all(lab.ns)
    first = plan(RECIPE, project=lab.project, ns=lab.ns)
    gone = lab.ns.resolve(READY)
    more_data(lab.ns)
    second = plan(RECIPE, project=lab.project, ns=lab.ns)
    gone.path.rename(gone.path.with_name("@trash"))
    sides = [side(one.hash, project=lab.project, ns=lab.ns) for one in (first, second)]
    (change,) = compare(*sides, project=lab.project, ns=lab.ns).changes
    assert change.about == {"unknown": [gone.name]}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("train-tiny-00000000aaaa", "unknown_run"),
        ("00000000aaaa", "unknown_spec"),
        ("tinny", "unknown_target"),
        ("nothing.json", "no_spec"),
        ("public/probe/nothing", "unknown_stage"),
    ],
)
def test_what_names_nothing_is_refused_with_a_fix(lab: Lab, name: str, code: str) -> None:
    with pytest.raises(FactoryError) as caught:
        side(name, project=lab.project, ns=lab.ns)
    assert caught.value.code == code
    assert caught.value.fix


def test_a_run_that_is_just_being_made_was_never_launched(lab: Lab) -> None:
    publish_all(lab.ns)
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    checkpoint(lab.ns, planned, "train-tiny-0123456789ab", 4)
    (lab.ns.root / "public/runs/train-tiny-0123456789ab/context.json").unlink()
    with pytest.raises(FactoryError, match="was never launched"):
        side("train-tiny-0123456789ab", project=lab.project, ns=lab.ns)


def test_commits_of_both_sides_and_of_no_clone(git_lab: Lab, tmp_path: Path) -> None:
    root = git_lab.project.root
    base = git(root, "rev-parse", "HEAD")
    tips = []
    for name in ("left", "right"):
        git(root, "checkout", "-qb", name, base)
        git_lab.write("docs/page.md", name)
        commit(git_lab, name)
        tips.append(git(root, "rev-parse", "HEAD"))
    found = commits_between(root, *tips)
    assert found is not None
    assert sorted(line[0] + line.rpartition(" ")[2] for line in found) == ["<left", ">right"]
    assert commits_between(root, base, base) == ()
    assert commits_between(root, base, "f" * 40) is None
    assert commits_between(root, base, None) is None
    assert commits_between(root, base, "--output=x") is None
    assert commits_between(tmp_path / "none", *tips) is None
