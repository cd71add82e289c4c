"""Pins by hand at the command line: what they change, what is recorded, what can't be pinned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aifactory.launch import ensure_image
from aifactory.project import Project
from tests.cli.inside import RUN, Inside, start
from tests.launch.published import BPE, READY, SUITE, publish


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """A run of today's inputs, and newer ones."""
    made = start(tmp_path, monkeypatch)
    made.train()
    made.move_on()
    return made


def pin(lab: Inside, key: str = READY) -> str:
    return f"{key}@{lab.made[key].version[:12]}"


def test_a_pin_changes_one_input_and_the_diff_and_the_context_say_so(lab: Inside) -> None:
    answer = lab("plan", "tiny", "--pin", pin(lab), "--json")
    assert answer.code == 0, answer.err
    assert answer.json["context"]["pins"] == [f"{READY}@{lab.made[READY].version[:16]}"]
    assert answer.json["context"]["requester"].startswith("person:")
    found = lab("diff", "tiny", answer.json["hash"], "--json").json
    assert found["identical_except"] == [f"data mix {READY}"]
    assert f"pinned                             {READY}@" in lab("plan", "tiny", "--pin", pin(lab)).out
    assert lab("plan", "tiny", "--json").json["context"]["pins"] == []


def test_who_launches_a_pinned_plan_by_its_hash_still_says_what_was_pinned(lab: Inside) -> None:
    pinned = lab("plan", "tiny", "--pin", pin(lab), "--json").json
    again = lab("plan", pinned["hash"][:12], "--json")
    assert (again.code, again.json["hash"]) == (0, pinned["hash"])
    assert again.json["context"]["pins"] == pinned["context"]["pins"]


def test_the_inputs_of_a_run_bring_back_its_spec(lab: Inside) -> None:
    answer = lab("plan", "tiny", "--inputs-of", RUN, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["context"]["pins"] == [f"inputs of {RUN}"]
    found = lab("diff", RUN, answer.json["hash"], "--json").json
    assert found["identical_except"] == []
    both = lab("plan", "tiny", "--inputs-of", RUN, "--pin", f"{READY}@{lab.ns.resolve(READY).version}", "--json").json
    assert lab("diff", RUN, both["hash"], "--json").json["identical_except"] == [f"data mix {READY}"]


def test_an_older_image_is_taken_by_its_digest_and_named_in_the_diff(lab: Inside) -> None:
    digest = ensure_image(Project.current(), "data").digest
    lab.lab.write("assets/public/probe.py", '"""Changes the image of data."""\n')
    lab.lab.write(
        "assets/public/letters.py",
        "import pyarrow as pa\nfrom aifactory.datasets import dataset\n\n\n@dataset()\ndef raw() -> pa.Table:\n"
        '    """Nothing."""\n    return pa.table({})\n',
    )
    old = lab("plan", "public/letters/raw", "--image", digest[:12], "--json")
    assert old.code == 0, old.err
    assert old.json["spec"]["image"]["digest"] == digest
    assert old.json["context"]["pins"] == [f"image {digest[:16]}"]
    found = lab("diff", "public/letters/raw", old.json["hash"], "--json").json
    assert {one["group"] for one in found["fields"] if one["group"] != "context"} == {"code"}
    run = lab.ns.class_root("public") / "runs" / RUN
    used = json.loads((run / "spec.json").read_bytes())["spec"]["image"]["digest"]
    context = json.loads((run / "context.json").read_bytes()) | {"commit": "c" * 40}
    (run / "context.json").write_text(json.dumps(context))
    lab.lab.write("locks/train.lock", "# Another lock makes another image of train.\n")
    known = lab("plan", "tiny", "--image", used[:12], "--json")
    assert (known.code, known.json["error"]["code"]) == (2, "unknown_image")
    assert f"aifactory image build train --commit {'c' * 40} --expect {used[:16]}" in known.json["error"]["fix"]
    gone = lab("plan", "public/letters/raw", "--image", "f" * 16, "--json")
    assert (gone.code, gone.json["error"]["code"]) == (2, "unknown_image")
    assert "aifactory image build" in gone.json["error"]["fix"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--pin", "public/probe/ready@11111111"), "version", "aifactory versions"),
        (("--pin", "public/probe/redy@11111111"), "unpublished", READY),
        (("--pin", READY), "pin", "8 digits"),
        (("--pin", f"{RUN}/9"), "unknown_checkpoint", "steps 3"),
        (("--inputs-of", "train-tiny-9"), "unknown_run", RUN),
        (("--inputs-of", "No Run"), "run_name", "aifactory runs"),
        (("--image", "ab"), "unknown_image", "8 digits"),
    ],
)
def test_what_names_nothing_is_wrong_usage_and_names_what_there_is(
    lab: Inside, options: tuple[str, str], code: str, said: str
) -> None:
    answer = lab("plan", "tiny", *options, "--json")
    assert answer.json["error"]["code"] == code
    assert answer.code == 2
    assert said in answer.err


def test_a_key_that_is_not_read_and_a_run_of_another_kind_are_refused(lab: Inside) -> None:
    other = publish(lab.ns, "public/probe/other", "table", {"rows": "rows"})
    for options, said in (
        (("--pin", f"public/probe/other@{other.version}"), READY),
        (("--pin", pin(lab, BPE).replace(BPE, "public/probe/other").split("@")[0] + f"@{other.version}"), READY),
    ):
        answer = lab("plan", "tiny", *options, "--json")
        assert (answer.code, answer.json["error"]["code"]) == (2, "pin")
        assert said in answer.err
    evaluation = lab("plan", f"{RUN}/3", "--json").json
    place = lab.ns.class_root("public") / "runs" / "evaluate-tiny-3-0123456789ab"
    place.mkdir()
    (place / "spec.json").write_bytes(Path(evaluation["path"]).read_bytes())
    (place / "context.json").write_text(json.dumps(evaluation["context"]))
    answer = lab("plan", "tiny", "--inputs-of", place.name, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "pin")
    assert READY in answer.err


def test_a_run_that_was_never_launched_has_no_inputs(lab: Inside) -> None:
    run = lab.ns.class_root("public") / "runs" / RUN
    (run / "context.json").unlink()
    answer = lab("plan", "tiny", "--inputs-of", RUN, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "unknown_run")
    assert "never launched" in answer.err


def test_an_evaluation_takes_another_suite_than_the_one_that_its_training_fixed(lab: Inside) -> None:
    fixed = lab("plan", f"{RUN}/3", "--json").json
    newer = lab("plan", f"{RUN}/3", "--pin", f"{SUITE}@{lab.ns.resolve(SUITE).version}", "--json").json
    assert lab("diff", fixed["hash"], newer["hash"], "--json").json["identical_except"] == [f"data suite {SUITE}"]


def test_a_frozen_spec_takes_no_pins(lab: Inside) -> None:
    frozen = lab("plan", "tiny", "--json").json["hash"]
    answer = lab("plan", frozen, "--pin", pin(lab), "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "pin")
