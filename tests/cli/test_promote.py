"""`aifactory promote`, and what takes its line as an input, as a person uses them. Nothing is trained."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.inside import RUN, Inside, start
from tests.launch.published import READY, SUITE
from tests.launch.saved import LINE

OTHER = "train-tiny-ba9876543210"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    made = start(tmp_path, monkeypatch)
    made.train(steps=(3, 4))
    return made


def digest(lab: Inside, step: int) -> str:
    place = lab.ns.class_root("public") / "runs" / RUN / "checkpoints" / f"step-{step:08d}" / "checkpoint.json"
    return str(json.loads(place.read_bytes())["digest"])


def test_a_checkpoint_becomes_a_version_of_its_line_like_any_other(lab: Inside) -> None:
    first = lab("promote", f"{RUN}/3", "--why", "the best so far")
    assert first.code == 0, first.err
    assert f"step 3 of {RUN}: publication 1" in first.out
    path = lab("path", LINE, "--files")
    assert path.code == 0, path.err
    second = lab("promote", digest(lab, 4)[:12], "--json")
    assert second.code == 0, second.err
    assert (second.json["outcome"], second.json["step"], second.json["publication"]) == ("published", 4, 2)
    listed = lab("versions", LINE, "--json").json
    assert [one["why"] for one in listed] == ["", "the best so far"]
    old = listed[1]["version"]
    assert lab("rollback", LINE, old[:10], "--why", "it was better").code == 0
    assert old[:16] in lab("path", f"{LINE}@{old[:8]}").out
    assert lab("versions", LINE, "--json").json[0]["version"] == old


def test_what_is_current_already_says_so_and_changes_nothing(lab: Inside) -> None:
    place = f"/factory/public/runs/{RUN}/checkpoints/step-00000003"
    assert lab("promote", place).code == 0
    again = lab("promote", f"{RUN}/step-00000003")
    assert again.code == 0
    assert "already" in again.out
    assert "nothing to do" in again.out
    assert len(lab("versions", LINE, "--json").json) == 1


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("train-tiny-0123456789ac/3", "unknown_run", RUN),
        (f"{RUN}/5", "unknown_checkpoint", "one of the steps 3, 4"),
        ("0" * 16, "unknown_checkpoint", "8 digits or more"),
        ("nonsense", "checkpoint", "<run>/<step>"),
        (RUN, "unknown_checkpoint", f"{RUN}/4"),
        (LINE, "checkpoint", "aifactory rollback"),
    ],
)
def test_what_names_no_checkpoint_is_said_with_what_there_is(lab: Inside, name: str, code: str, said: str) -> None:
    answer = lab("promote", name, "--json")
    assert answer.code == (2 if code.startswith("unknown") else 1)
    assert answer.json["error"]["code"] == code
    assert said in answer.err
    assert not list((lab.ns.directory(LINE)).glob("@*"))


def test_half_a_checkpoint_and_one_of_another_line_are_refused(lab: Inside) -> None:
    run = lab.ns.class_root("public") / "runs" / RUN
    (run / "checkpoints" / "step-00000003" / "checkpoint.json").unlink()
    half = lab("promote", f"{RUN}/3", "--json")
    assert (half.code, half.json["error"]["code"]) == (1, "checkpoint")
    context = run / "context.json"
    context.write_text(context.read_text().replace(LINE, "public/models/other"))
    other = lab("promote", f"{RUN}/4", "--json")
    assert (other.code, other.json["error"]["code"]) == (1, "line")
    assert (other.json["error"]["found"], other.json["error"]["expected"]) == ("public/models/other", LINE)


def test_an_evaluation_of_a_line_reads_what_it_stands_for(lab: Inside) -> None:
    assert lab("promote", f"{RUN}/3").code == 0
    version = lab.ns.resolve(LINE).version
    planned = lab("plan", LINE, "--json")
    assert planned.code == 0, planned.err
    (model,) = [one for one in planned.json["spec"]["inputs"] if one["kind"] == "model"]
    assert (model["key"], model["version"]) == (LINE, version)
    assert planned.json["context"]["parent_run"] == RUN
    assert lab("promote", f"{RUN}/4").code == 0
    older = lab("plan", f"{LINE}@{version[:12]}", "--json")
    assert older.json["hash"] == planned.json["hash"]
    assert lab("plan", LINE, "--json").json["hash"] != planned.json["hash"]
    assert lab("plan", f"{RUN}/3", "--json").json["kind"] == "evaluate"


def test_a_line_without_a_snapshot_is_not_built_and_an_unknown_one_is_a_wrong_name(lab: Inside) -> None:
    for target in (LINE, "further"):
        answer = lab("plan", target, "--json")
        assert answer.code == 3, answer.err
        (refusal,) = answer.json["error"]["refusals"]
        assert refusal["code"] == "input_not_built"
        assert "aifactory promote" in refusal["fix"]
    answer = lab("plan", "public/models/tyni", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "unknown_target")
    assert LINE in answer.err


def test_a_further_training_reads_the_promoted_model_and_another_shape_is_refused(lab: Inside) -> None:
    assert lab("promote", f"{RUN}/3").code == 0
    planned = lab("plan", "further", "--json")
    assert planned.code == 0, planned.err
    (start,) = [one for one in planned.json["spec"]["inputs"] if one["role"] == "start"]
    assert (start["kind"], start["key"], start["version"]) == ("model", LINE, lab.ns.resolve(LINE).version)
    wide = lab("plan", "further", "model.hidden=16", "model.layers=2", "--json")
    assert wide.code == 3
    (refusal,) = wide.json["gate"]["refusals"]
    assert refusal["code"] == "shape"
    assert "model.hidden=8" in refusal["found"]
    assert "model.layers=1" in refusal["found"]
    assert "model.hidden=16" in refusal["expected"]
    assert "model.layers=2" in refusal["expected"]
    assert lab("plan", "further", "model.context=32", "--json").code == 0


def test_a_new_training_starts_from_any_checkpoint_and_says_so_in_its_diff(lab: Inside) -> None:
    assert lab("promote", f"{RUN}/3").code == 0
    options = ("further", "--pin", f"{RUN}/4")
    planned = lab("plan", *options, "--json")
    assert planned.code == 0, planned.err
    (start,) = [one for one in planned.json["spec"]["inputs"] if one["role"] == "start"]
    assert (start["kind"], start["version"]) == ("checkpoint", digest(lab, 4))
    place = f"/factory/public/runs/{RUN}/checkpoints/step-00000004"
    assert planned.json["context"]["pins"] == [place]
    assert planned.json["context"]["places"] == {"start": place}
    found = lab("diff", "further", planned.json["hash"], "--json").json
    assert found["identical_except"] == [f"data start {LINE}"]
    assert lab("plan", *options, "model.hidden=16", "--json").json["gate"]["refusals"][0]["code"] == "shape"
    assert lab("plan", "tiny", "--pin", f"{RUN}/4", "--json").json["error"]["code"] == "pin"


def test_a_promoted_line_outlives_its_run_and_its_checkpoint(lab: Inside) -> None:
    assert lab("promote", f"{RUN}/3").code == 0
    shutil.rmtree(lab.ns.class_root("public") / "runs" / RUN)
    assert lab("plan", LINE, "--json").code == 0
    assert lab("plan", "further", "--json").code == 0
    assert lab("plan", "further", "model.hidden=16", "--json").json["gate"]["refusals"][0]["code"] == "shape"
    assert {one["key"] for one in lab("plan", LINE, "--json").json["spec"]["inputs"]} >= {SUITE, LINE}
    assert READY in {one["key"] for one in lab("plan", "further", "--json").json["spec"]["inputs"]}
