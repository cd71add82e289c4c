"""Commands over a lab's read-only mount."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Answer, Lab

RAW, CLEAN = "public/letters/raw", "public/letters/clean"


class Laptop:
    """A folder of its own over the namespace of a lab where both stages were built, which is at `mount`."""

    def __init__(self, lab: Lab, mount: Path):
        self.lab, self.mount, self.own = lab, mount, lab.root / "own"

    def __call__(self, *arguments: str) -> Answer:
        return self.lab(*arguments, AIFACTORY_ROOT=f"{self.own}{os.pathsep}{self.mount}")

    def state(self) -> dict[str, int]:
        """Every file of the mount, by the time of its last change."""
        return {str(path): path.lstat().st_mtime_ns for path in self.mount.rglob("*")}

    def versions(self, key: str = CLEAN) -> list[dict[str, object]]:
        answer = self("versions", key, "--json")
        assert answer.code == 0, answer.err
        return list(answer.json)


@pytest.fixture
def laptop(built: Lab) -> Iterator[Laptop]:
    """The lab's tree is really mounted read-only where this user may mount, and only looked at for changes else."""
    mount = built.root / "mount"
    mount.mkdir()
    if subprocess.call(["mount", "--bind", built.namespace, mount], stderr=subprocess.DEVNULL):
        yield Laptop(built, built.namespace)
        return
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", mount], check=True)
        yield Laptop(built, mount)
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


def change(lab: Lab) -> None:
    path = lab.project / "assets/public/letters.py"
    text = path.read_text()
    assert ".upper()" in text
    path.write_text(text.replace(".upper()", ".lower()"))


def test_a_laptop_over_the_labs_mount(laptop: Laptop) -> None:
    """Reuses what the lab built, forks what it changes, sees the fork, drops it; the mount stays as it is."""
    before = laptop.state()
    theirs = laptop.versions()[0]

    answer = laptop("launch", CLEAN)
    assert answer.code == 0, answer.err
    assert f"{CLEAN}@{theirs['version'][:16]} reused" in answer.err  # type: ignore[index]
    assert [one["root"] for one in laptop.versions()] == [str(laptop.mount)]  # no fork
    assert len(list((laptop.own / "public/runs").iterdir())) == 1

    change(laptop.lab)
    answer = laptop("launch", CLEAN)
    assert answer.code == 0, answer.err
    mine, hidden = laptop.versions()
    assert mine["version"] != theirs["version"]
    assert (mine["n"], mine["current"], mine["hidden"], mine["root"]) == (2, True, False, str(laptop.own))
    assert mine["left"]["version"] == theirs["version"]  # type: ignore[index]
    assert (hidden["version"], hidden["root"]) == (theirs["version"], str(laptop.mount))
    assert laptop("path", CLEAN).out.startswith(str(laptop.own))
    shown = laptop("versions", CLEAN)
    assert f"a fork in {laptop.own}: its publication 2 left publication 1" in shown.out
    assert "drop-fork" in shown.out
    doctor = laptop("doctor")
    assert doctor.code == 0, doctor.out
    assert f"fork           {CLEAN}: a fork in {laptop.own}" in doctor.out
    assert f"{laptop.own}, over {laptop.mount} (read only)" in doctor.out

    # A version of the mount is still an input like any other, and a run of the mount is found.
    run = next((laptop.mount / "public/runs").iterdir()).name
    assert laptop("runs", run).code == 0
    assert {one["run"] for one in laptop("runs", "--json").json} > {run}
    answer = laptop("diff", run, next((laptop.own / "public/runs").iterdir()).name)
    assert answer.code == 0, answer.err

    answer = laptop("drop-fork", f"/factory/{CLEAN}", "--why", "the lab's is better")
    assert answer.code == 0, answer.err
    assert f"{CLEAN} is {str(theirs['version'])[:16]} again" in answer.out
    shown = laptop("versions", CLEAN)
    assert f"{str(theirs['version'])[:16]} *" in shown.out
    assert "a fork was dropped" in shown.out
    assert ": the lab's is better" in shown.out
    assert laptop("path", CLEAN).out.startswith(str(laptop.mount))
    assert laptop("doctor").code == 0

    answer = laptop("drop-fork", CLEAN, "--why", "again", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (1, "no_fork")
    assert laptop.state() == before


def test_a_frozen_spec_of_the_mount_runs_here(laptop: Laptop) -> None:
    before = laptop.state()
    specs = sorted((laptop.mount / "public/specs").iterdir())
    answer = laptop("launch", "--spec", specs[0].name[:12], "--json")
    assert answer.code == 0, answer.err
    assert answer.json["spec"] == specs[0].name
    assert Path(answer.json["directory"]).is_relative_to(laptop.own)
    assert (laptop.own / "public/specs" / specs[0].name / "spec.json").read_bytes() == (
        specs[0] / "spec.json"
    ).read_bytes()
    assert laptop.state() == before


def test_a_run_of_the_mount_is_not_stopped_from_here(laptop: Laptop) -> None:
    run = next((laptop.mount / "public/runs").iterdir()).name
    answer = laptop("runs", run, "--stop")
    assert answer.code == 1
    assert str(laptop.mount) in answer.err
    assert str(laptop.own) in answer.err


def test_every_form_of_a_name_is_taken_and_the_canonical_one_is_printed(laptop: Laptop) -> None:
    found = laptop("path", CLEAN, "--json").json
    canonical, local = found["canonical"], found["path"]
    assert canonical == f"/factory/{CLEAN}/@{found['version'][:16]}"
    for name in (canonical, local, str(laptop.mount / CLEAN)):
        shown = laptop("path", name, "--files", "--json")
        assert shown.code == 0, shown.err
        assert shown.json["version"] == found["version"]
    assert laptop("versions", local).code == 0
    raw = str((laptop.mount / RAW / "@current").resolve())
    planned = laptop("plan", f"/factory/{CLEAN}", "--pin", raw, "--json")
    assert planned.code == 0, planned.err
    assert planned.json["context"]["root"].split(os.pathsep) == [str(laptop.own), str(laptop.mount)]


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "an empty name names nothing"), ("/etc/passwd", "outside of"), ("/factory/../etc", "`..`")],
)
def test_a_name_that_is_none_is_told(laptop: Laptop, name: str, said: str) -> None:
    answer = laptop("path", name)
    assert answer.code in (1, 2)
    assert said in answer.err
    assert "Traceback" not in answer.err


def test_a_mount_that_is_away_and_a_root_that_cannot_be_made(lab: Lab) -> None:
    laptop = Laptop(lab, lab.root / "mount")
    laptop.mount.mkdir()
    answer = laptop("versions", CLEAN)
    assert answer.code == 1
    assert "the read-only root" in answer.err
    assert "mount it" in answer.err
    doctor = laptop("doctor", "--json")
    (root,) = [one for one in doctor.json["findings"] if one["name"] == "root"]
    assert root["state"] == "broken"
    for place in ("/proc/own", "/dev/null/own", f"{laptop.lab.root}/a:{laptop.lab.root}/a", ":/lab"):
        answer = laptop.lab("plan", RAW, AIFACTORY_ROOT=place)
        assert answer.code == 1, place
        assert "fix:" in answer.err
        assert "Traceback" not in answer.err


def test_what_the_system_refuses_is_an_error_and_no_traceback(lab: Lab) -> None:
    journal = lab.namespace / CLEAN / "@journal"
    journal.parent.mkdir(parents=True)
    journal.symlink_to("@journal")
    answer = lab("versions", CLEAN, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (1, "system")
    assert str(journal) in answer.err
    assert "Traceback" not in answer.err
