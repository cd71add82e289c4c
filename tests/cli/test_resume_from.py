"""`--resume-from`: a new run goes on where a checkpoint of another one stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.inside import RUN, Inside, start
from tests.launch.published import READY, SUITE
from tests.launch.saved import LINE

PLACE = f"/factory/public/runs/{RUN}/checkpoints/step-00000003"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """A run with a checkpoint; its data has moved on since."""
    made = start(tmp_path, monkeypatch)
    made.train()
    made.move_on()
    return made


def test_it_reads_what_the_checkpoints_run_read_and_its_diff_names_the_checkpoint(lab: Inside) -> None:
    answer = lab("plan", "tiny", "steps=8", "--resume-from", f"{RUN}/3", "--json")
    assert answer.code == 0, answer.err
    inputs = {one["role"]: one for one in answer.json["spec"]["inputs"]}
    assert inputs["mix"]["version"] == lab.made[READY].version
    assert (inputs["resume"]["kind"], inputs["resume"]["key"]) == ("checkpoint", LINE)
    context = answer.json["context"]
    assert (context["places"], context["pins"]) == ({"resume": PLACE}, [f"resume {PLACE}"])
    assert [one["version"] for one in context["suites"]] == [lab.made[SUITE].version]
    found = lab("diff", RUN, answer.json["hash"], "--json").json
    assert found["identical_except"] == [f"data resume {LINE}", "config steps"]
    assert lab("plan", answer.json["hash"], "--json").json["context"]["places"] == {"resume": PLACE}


def test_a_recipe_that_starts_from_a_line_goes_on_without_it(lab: Inside) -> None:
    answer = lab("plan", "further", "--resume-from", PLACE, "--json")
    assert answer.code == 0, answer.err
    assert "start" not in answer.json["spec"]["config"]
    assert [one["role"] for one in answer.json["spec"]["inputs"] if one["kind"] == "checkpoint"] == ["resume"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("seed=5",), "resume", "seed=5"),
        (("optimizer.weight_decay=0.5",), "resume", "optimizer.weight_decay=0.1"),
        (("steps=3",), "resume", "more than 3 steps"),
        (("--pin", "NEWER"), "resume", READY),
    ],
)
def test_what_the_optimizer_and_the_position_belong_to_must_stay(
    lab: Inside, options: tuple[str, ...], code: str, said: str
) -> None:
    newer = f"{READY}@{lab.ns.resolve(READY).version}"
    words = [newer if one == "NEWER" else one for one in options]
    answer = lab("plan", "tiny", *words, "--resume-from", f"{RUN}/3", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, code)
    assert said in answer.err


def test_another_shape_is_refused_by_the_gate_with_both_values(lab: Inside) -> None:
    answer = lab("plan", "tiny", "model.hidden=16", "--resume-from", f"{RUN}/3", "--json")
    assert answer.code == 3
    (refusal,) = answer.json["gate"]["refusals"]
    assert (refusal["code"], refusal["found"]) == ("shape", "model.ffn=32, model.hidden=8")


def test_only_a_recipe_goes_on_and_only_from_a_checkpoint(lab: Inside) -> None:
    frozen = lab("plan", "tiny", "--json").json["hash"]
    for target, checkpoint, code in (
        (f"{RUN}/3", f"{RUN}/3", "pin"),
        (frozen, f"{RUN}/3", "pin"),
        ("tiny", f"{RUN}/9", "unknown_checkpoint"),
        ("tiny", "train-tiny-9/3", "unknown_run"),
    ):
        answer = lab("plan", target, "--resume-from", checkpoint, "--json")
        assert (answer.code, answer.json["error"]["code"]) == (2, code)
    assert lab("promote", f"{RUN}/3").code == 0
    answer = lab("plan", "tiny", "--resume-from", LINE, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "pin")
    assert f"start={LINE}" in answer.err
