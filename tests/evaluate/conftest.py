from __future__ import annotations

import pytest

from aifactory.channel import CheckpointSaved
from tests.train.lab import Lab, make_lab, messages, tiny, train_job


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A namespace of its own, made once for all tests that evaluate."""
    return make_lab(tmp_path_factory.mktemp("evaluate-lab") / "namespace")


@pytest.fixture(scope="session")
def checkpoint(lab: Lab) -> CheckpointSaved:
    """A model that has seen enough to tell the chapters apart."""
    from aifactory.train import execute

    job = train_job(lab, tiny(steps=120, checkpointing__count=1), "trained")
    execute(job)
    return next(m.payload for m in messages(job) if isinstance(m.payload, CheckpointSaved))
