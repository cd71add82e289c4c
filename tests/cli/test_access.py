"""Classes, grants and mounts as a user meets them in a terminal."""

from __future__ import annotations

from tests.cli.conftest import Lab

GRANT = '[[tool.aifactory.grants]]\nfrom = "private/clinic"\nto = "private/oncology"\nwhy = "board, 2026-03-02"\n'


def findings(lab: Lab) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in lab("doctor", "--json").json["findings"]}


def test_the_doctor_says_which_grants_are_in_force_and_which_is_wrong(lab: Lab) -> None:
    assert findings(lab)["grants"]["text"].startswith("none")
    lab.write("pyproject.toml", GRANT)
    wrong = findings(lab)
    assert (wrong["grants"]["state"], wrong["stages"]["state"]) == ("broken", "broken")
    assert "grant 1: 'from' names an unknown project" in wrong["grants"]["text"]
    for owner in ("clinic", "oncology"):
        lab.write(f"assets/private/{owner}/__init__.py", "")
    found = findings(lab)["grants"]
    assert (found["state"], found["text"]) == ("ok", "private/clinic -> private/oncology (board, 2026-03-02)")
    answer = lab("plan", "public/letters/raw")
    assert "private/clinic -> private/oncology" in answer.out


def test_a_plan_shows_what_the_run_will_see(built: Lab) -> None:
    answer = built("plan", "public/letters/clean", "--mounts")
    assert answer.code == 0
    seen = answer.out.partition("what the run sees of the namespace")[2]
    version = built("path", "public/letters/raw").out.strip().rpartition("@")[2]
    assert f"read-only  /factory/public/letters/raw/@{version}" in seen
    assert "read-write /factory/public/letters/clean " in seen
    assert "read-write /factory/public/runs/<run>" in seen
    rows = built("plan", "public/letters/clean", "--mounts", "--json").json["mounts"]
    assert [row["read_only"] for row in rows] == [False, True, False]


def test_an_edge_that_is_not_allowed_stops_every_command_with_its_fix(lab: Lab) -> None:
    lab.write("assets/private/clinic/notes.py", 'from aifactory.datasets import source\nraw = source(file="a.txt")\n')
    lab.write("assets/private/clinic/a.txt", "secret")
    leak = "from pathlib import Path\nfrom aifactory.datasets import dataset\n\n\n"
    leak += '@dataset(inputs={"raw": "private/clinic/notes/raw"})\ndef rows(raw: Path) -> Path: ...\n'
    lab.write("assets/public/leak.py", leak)
    answer = lab("plan", "public/letters/raw")
    assert answer.code == 1
    assert "private/clinic/notes/raw -> public/leak/rows" in answer.err
    assert "move it under private/clinic" in answer.err
    assert "secret" not in answer.out + answer.err


def test_a_launch_of_another_class_than_the_one_that_is_executed_is_refused(built: Lab) -> None:
    answer = built("launch", "public/letters/clean", "--json", AIFACTORY_LOAD="private/clinic")
    assert answer.code == 1
    error = answer.json["error"]
    assert (error["code"], error["found"], error["expected"]) == ("other_location", "public", "private/clinic")
    assert built("runs", "--json").json == built("runs", "--json", AIFACTORY_LOAD="public").json
    assert built("launch", "public/letters/clean", AIFACTORY_LOAD="public").code == 0
