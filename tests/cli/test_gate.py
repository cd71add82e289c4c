"""The gate and the images at the command line."""

from __future__ import annotations

import json
import subprocess

from tests.cli.conftest import Lab

CLEAN = "public/letters/clean"


def test_a_plan_lists_what_the_gate_would_refuse_and_exits_as_a_launch_would(built: Lab) -> None:
    answer = built("plan", CLEAN, "--queue", "fast", "--json")
    assert answer.code == 3
    assert answer.json["gate"]["outcome"] == "refused"
    assert [one["code"] for one in answer.json["gate"]["refusals"]] == ["no_queue"]
    assert built("plan", CLEAN, "--json").json["gate"] == {"outcome": "passed", "refusals": []}
    shown = built("plan", CLEAN, "--queue", "fast").out
    assert "gate would refuse it" in shown
    assert "[no_queue] the cluster local has no queue 'fast'" in shown


def test_what_is_not_built_does_not_hide_that_there_is_no_such_cluster(lab: Lab) -> None:
    answer = lab("plan", CLEAN, "--cluster", "gpu7", "--json")
    assert answer.code == 3
    found = {one["code"]: one["found"] for one in answer.json["error"]["refusals"]}
    assert found.keys() == {"input_not_built", "unknown_cluster"}
    assert found["unknown_cluster"] == "gpu7"


def test_an_override_needs_a_reason_and_a_code_that_may_be_allowed(built: Lab) -> None:
    for options, code in (
        (("--allow", "check_red"), "why"),
        (("--allow", "class", "--why", "please"), "class_override"),
        (("--allow", "no_queue", "--why", "please"), "impossible_override"),
        (("--allow", "check_rde", "--why", "please"), "unknown_code"),
    ):
        answer = built("launch", CLEAN, *options, "--json")
        assert answer.code == 2, answer.err
        assert answer.json["error"]["code"] == code


def test_an_override_is_in_the_records_of_the_run_that_it_let_through(built: Lab) -> None:
    raw = next((built.namespace / "public/letters/raw/@audits").iterdir())
    for file in raw.iterdir():
        file.unlink()
    refused = built("launch", CLEAN, "--json")
    assert refused.code == 3
    codes = {one["code"] for one in refused.json["error"]["refusals"]}
    assert codes == {"check_missing"}
    allowed = ("--allow", "check_missing", "--why", "the audits were lost")
    planned = built("plan", CLEAN, *allowed)
    assert planned.code == 0, planned.err
    assert "--allow check_missing --why 'the audits were lost'" in planned.out
    answer = built("launch", CLEAN, "--allow", "check_missing", "--why", "the audits were lost", "--json")
    assert answer.code == 0, answer.err
    record = json.loads((built.namespace / "public/runs" / answer.json["run"] / "gate.json").read_text())
    assert (record["outcome"], record["why"]) == ("passed", "the audits were lost")
    assert {one["code"] for one in record["allowed"]} == codes


def test_images_are_listed_without_a_word_more(built: Lab) -> None:
    (image,) = built("image", "--json").json
    assert image["environment"].startswith("data-")
    assert len(image["runs"]) == len(image["specs"]) == 2
    assert image["verified"] == []
    assert "verified on" in built("image").out


def test_an_image_is_built_from_a_commit_after_the_checkout_has_moved_on(built: Lab) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=built.project, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    (image,) = built("image", "--json").json
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "letters")
    commit = git("rev-parse", "HEAD")
    subprocess.run(["chmod", "-R", "u+w", image["path"]], check=True)
    subprocess.run(["rm", "-r", image["path"]], check=True)
    built.write("assets/public/more.py", '"""Nothing yet."""\n')
    git("add", "-A")
    git("commit", "-qm", "more")
    wrong = built("image", "build", "data", "--commit", "HEAD", "--expect", image["digest"][:16])
    assert wrong.code == 1
    assert "makes another image" in wrong.err
    answer = built("image", "build", "data", "--commit", commit, "--expect", image["digest"][:16], "--json")
    assert answer.code == 0, answer.err
    assert answer.json["digest"] == image["digest"]
    assert git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert built("image", "build", "data", "--commit", "0" * 40).code == 2
