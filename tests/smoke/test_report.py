"""The report of a smoke: whole after every step, red where it was red, and nothing hidden after that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aifactory.channel import Cancelled, Note
from aifactory.errors import FactoryError
from aifactory.smoke.report import Report
from tests.train.lab import Lab, make_lab, messages, tiny, train_job


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return make_lab(tmp_path_factory.mktemp("lab") / "namespace")


def read(directory: Path) -> Any:
    return json.loads((directory / "report.json").read_bytes())


def test_a_red_step_ends_the_smoke_and_those_after_it_are_not_reached(lab: Lab) -> None:
    job = train_job(lab, tiny(), "smoke-red")
    report = Report(job, ("data", "killed", "compared"))
    with report.step("data") as step:
        step.found("all there", bytes=7)
    with pytest.raises(FactoryError, match="red at the step 'killed': KeyError") as caught, report.step("killed"):
        raise KeyError("rank")
    assert caught.value.code == "smoke"
    found = read(job.directory)
    outcomes = [(one["name"], one["outcome"]) for one in found["steps"]]
    assert outcomes == [("data", "green"), ("killed", "red"), ("compared", "not reached")]
    assert (found["green"], found["image"], found["cluster"]) == (False, job.spec.image.digest, "local")
    said = [one.text for one in (message.payload for message in messages(job)) if isinstance(one, Note)]
    assert [text.partition(" in ")[0] for text in said] == ["data: green", "killed: red"]


def test_a_report_is_green_when_every_step_is(lab: Lab) -> None:
    job = train_job(lab, tiny(), "smoke-green")
    report = Report(job, ("data", "killed"))
    with report.step("data"):
        pass
    assert read(job.directory)["green"] is False
    with report.step("killed"):
        pass
    assert read(job.directory)["green"] is True


def test_a_stop_is_no_red_step(lab: Lab) -> None:
    job = train_job(lab, tiny(), "smoke-stopped")
    report = Report(job, ("data", "killed"))
    job.stop.set()
    with pytest.raises(Cancelled), report.step("data"):
        pass
    assert not (job.directory / "report.json").exists()
    job.stop.clear()
    with pytest.raises(Cancelled), report.step("data"):
        raise Cancelled
    assert [one["outcome"] for one in read(job.directory)["steps"]] == ["not reached"] * 2
