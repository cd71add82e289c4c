"""Real pods: the image that is built here trains on a head and two workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.channel import CheckpointSaved, Closed, Reader
from aifactory.launch import Plan, launch
from aifactory.launch.images.copies import LocalImage
from aifactory.spec import Context, ImageRef, RunSpec, freeze
from aifactory.train.metrics import read_metrics
from tests.kube import by_hand, table
from tests.kube.by_hand import state, until
from tests.kube.node import PODS
from tests.kube.space import Space
from tests.train.lab import make_lab, tiny

pytestmark = [pytest.mark.pods, pytest.mark.timeout(600)]
STEPS = 20
RUN = "train-tiny-000000000001"


def test_the_image_trains_on_two_workers(
    pod_space: Space, on_node: Callable[[LocalImage], str], train_image: LocalImage, tmp_path: Path
) -> None:
    lab = make_lab(tmp_path / "namespace")
    spec = RunSpec(
        kind="train",
        config=tiny(parallelism__data=2),
        inputs=(lab.tokens, lab.tokenizer),
        image=ImageRef(name="train", digest=train_image.digest),
    )
    context = Context(cluster="lab", root=str(lab.root), commit="0" * 40)
    plan = Plan(spec, context, spec.hash, freeze(lab.namespace, spec, context.resolution()), "tiny")
    directory = by_hand.prepare(plan, RUN, owner=PODS)
    cluster = table.cluster(pod_space, lab.root, shapes=table.REAL)
    job = by_hand.submit(pod_space, plan, cluster, RUN, on_node(train_image))
    until(lambda: state(pod_space, job) in ("Complete", "Failed"), 400)
    attempt = directory / "attempts" / "00000001"
    assert state(pod_space, job) == "Complete", (attempt / "logs" / "driver.log").read_text()[-3000:]
    payloads = [message.payload for message in Reader(attempt).new()]
    assert [one.step for one in payloads if isinstance(one, CheckpointSaved)] == [10, 20]
    assert payloads[-1] == Closed(count=len(payloads), outcome="succeeded")
    until(lambda: not pod_space.items("pods"), 120)

    local = replace(plan, context=Context(cluster="local", root=str(lab.root), commit="0" * 40))
    result = launch(local, run="train-tiny-000000000002", ns=lab.namespace)
    assert result.outcome == "succeeded", result.error
    assert losses(attempt) == losses(result.directory / "attempts" / "00000001")


def losses(attempt: Path) -> list[float]:
    found = [one.loss for one in read_metrics(attempt / "metrics.jsonl")]
    assert len(found) == STEPS
    return found
