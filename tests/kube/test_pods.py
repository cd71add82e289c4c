"""Real pods: the image that is built here trains on a head and two workers, launched as a researcher's run is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aifactory.launch.images.copies import LocalImage
from tests.kube.by_hand import until
from tests.kube.space import Space
from tests.kube.training import Training
from tests.train.lab import tiny

LABEL = "app.kubernetes.io/managed-by=aifactory"
pytestmark = [pytest.mark.pods, pytest.mark.timeout(900)]


@pytest.fixture
def training(
    tmp_path: Path, pod_space: Space, train_image: LocalImage, on_node: Callable[[LocalImage], str]
) -> Training:
    return Training(tmp_path, pod_space, train_image, on_node(train_image))


def test_two_workers_in_pods_learn_what_two_on_this_machine_do(training: Training) -> None:
    config = tiny(parallelism__data=2)
    with training.launching(training.plan(config), "train-tiny-000000000001") as launched:
        until(lambda: launched.steps or not launched.alive, 400)
        seen_live = launched.alive
        on_pods = launched.result()
    assert (on_pods.outcome, on_pods.attempt) == ("succeeded", 1), on_pods.error
    assert seen_live
    assert launched.steps == [10, 20]
    assert len(training.losses(on_pods)) == config.steps
    kinds = "rayjobs,rayclusters,pods,secrets,configmaps"
    until(lambda: not training.space.kubectl("get", kinds, "-l", LABEL, "-o", "name"))

    # Ray gives itself 30 s to start, which a busy machine may exceed.
    with training.launching(training.plan(config, "local"), "train-tiny-000000000002", tries=3) as launched:
        here = launched.result()
    assert here.outcome == "succeeded", here.error
    assert training.losses(here) == training.losses(on_pods)
    assert training.checkpoints(here) == training.checkpoints(on_pods)


def test_a_preempted_training_goes_on_from_its_checkpoint_to_the_same_end(training: Training) -> None:
    """Both want the only place of the queue. The preempted run's second attempt starts where the first had saved."""
    training.space.queue(cpu=1, memory="8Gi")
    training.declare(usual={"train": "one"}, retries={"preempted": 3, "infrastructure": 1, "wait_seconds": 0.0})
    config = tiny(steps=600, checkpointing__count=12)
    low = training.plan(config, queue="training", priority="low")
    high = training.plan(tiny(seed=8), queue="training", priority="high")
    with training.launching(low, "train-tiny-000000000003") as low_run:
        until(lambda: low_run.steps or not low_run.alive, 300)
        assert low_run.alive
        with training.launching(high, "train-tiny-000000000004") as high_run:
            assert high_run.result().outcome == "succeeded"
        preempted = low_run.result()
    assert (preempted.outcome, preempted.attempt) == ("succeeded", 2), preempted.error
    assert low_run.said("preempted")
    assert low_run.said("queued")
    first, second = training.steps(preempted).values()

    with training.launching(training.plan(config, "local"), "train-tiny-000000000005") as undisturbed:
        here = undisturbed.result()
    assert training.losses(here) == training.losses(preempted)
    at_the_end, made = training.checkpoints(here), training.checkpoints(preempted)
    assert at_the_end.items() <= made.items()
    # Usually the pod's grace is enough for a checkpoint of the last step, and none is made twice.
    assert f"step-{second[0] - 1:08d}" in made
    assert made.keys() - at_the_end.keys() <= {f"step-{first[-1]:08d}"}
