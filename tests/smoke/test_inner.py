"""A training inside the smoke: where it stands, and what it is told of one that can't begin."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.smoke.inner import Inner
from aifactory.spec import RunSpec, access_of_run
from tests.train.lab import Lab, make_lab, tiny, train_job


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return make_lab(tmp_path_factory.mktemp("lab") / "namespace")


def test_two_of_them_have_one_spec_and_those_of_a_later_attempt_stand_elsewhere(lab: Lab) -> None:
    job = train_job(lab, tiny(), "smoke-places")
    one, other, later = Inner(job, "one"), Inner(job, "other"), Inner(replace(job, attempt=2), "one")
    assert one.spec.hash == other.spec.hash
    assert len({one.directory, other.directory, later.directory}) == 3
    for inner in (one, other, later):
        assert inner.directory.is_relative_to(job.directory)
        assert access_of_run(inner.directory) == "public"


def test_a_suite_is_no_input_of_it(lab: Lab) -> None:
    job = train_job(lab, tiny(), "smoke-inputs")
    spec = RunSpec(kind="smoke", config=job.spec.config, inputs=(*job.spec.inputs, lab.heldout), image=job.spec.image)
    assert Inner(replace(job, spec=spec), "one").spec.hash == job.spec.hash


def test_one_that_dies_without_a_word_is_told_with_its_log(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    job = train_job(lab, tiny(), "smoke-dies")
    python = Path(shutil.which("false") or "/bin/false")
    monkeypatch.setattr("sys.executable", str(python))
    with pytest.raises(FactoryError, match="'one' inside the smoke failed") as caught:
        Inner(job, "one").attempt()
    assert "exit code 1 and no last message" in str(caught.value)
    assert "attempts/00000001/logs/driver.log" in str(caught.value)
