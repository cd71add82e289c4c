"""The gate at a site of its own: a run waits for its data, or is refused, and never starts on half of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from aifactory.launch import GateRefused, Plan, ask, gate, launch
from aifactory.launch.backend import Interrupted
from aifactory.launch.gate import waiting
from aifactory.launch.gate.check_in import check_in
from aifactory.launch.gate.waiting import DataWait
from aifactory.launch.images.verifications import Verification, record
from aifactory.launch.runs.result import Signal
from aifactory.launch.sites.marking import mark
from aifactory.namespace import Namespace, Snapshot
from tests.launch.kuberay.cases import example
from tests.launch.lab import Lab
from tests.launch.reasons import at_site
from tests.launch.sites.copies import KEY, copy, names, rows

OCI = "sha256:" + "9" * 64


@dataclass
class World:
    """A lab with a cluster at a site of its own, a snapshot that isn't there yet, and a build that reads it."""

    lab: Lab
    tree: Path
    snapshot: Snapshot
    plan: Plan

    def describe(self, text: str) -> None:
        self.lab.write("sites.toml", text)

    def codes(self) -> list[str]:
        return [one.code for one in ask(self.plan, project=self.lab.project, ns=self.lab.ns).refusals]

    def mark(self) -> None:
        mark("lab", self.tree, self.snapshot.key, self.snapshot.version, verify=False, writer="test")

    def wait(
        self,
        said: list[str],
        *,
        stop: Callable[[], Signal] = lambda: "run",
        steps: Iterable[Callable[[], object]] = (),
    ) -> DataWait:
        """A wait whose lines go to `said`; at each of them the copier makes its next step."""
        run, left = self.plan.class_root / "runs" / "build-say-1", iter(steps)

        def say(line: str) -> None:
            said.append(line)
            next(left, lambda: None)()

        return DataWait(self.plan, run, self.lab.ns, self.lab.project, say, stop)


@pytest.fixture(scope="module")
def project_of_worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds") / "project"


@pytest.fixture
def world(project_of_worlds: Path, ns: Namespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    own_lab = Lab(project_of_worlds, ns)
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.1)
    own_lab.write("clusters.toml", example())
    reference = f"registry.example/data@{OCI}"
    own_lab.write("images.toml", f'[data]\ndigest = "{own_lab.image.digest}"\nreference = "{reference}"\n')
    proof = Verification(digest=own_lab.image.digest, oci=OCI, where="lab", run="smoke-1")
    record(own_lab.ns, "public", "data", proof)
    snapshot, tree = rows(own_lab.ns), tmp_path / "lab-tree"
    tree.mkdir()
    context = {"cluster": "lab", "site": "lab", "commit": "d" * 40}
    plan = own_lab.plan("say", inputs=[("rows", KEY, snapshot.version)], context=context)
    world = World(own_lab, tree, snapshot, plan)
    world.describe(f'[lab]\nview = "{tree}"\nwait_seconds = 30\n')
    return world


def test_what_is_not_at_the_site_is_refused_with_the_command_that_brings_it(world: World) -> None:
    answer = ask(world.plan, project=world.lab.project, ns=world.lab.ns)
    assert [(one.code, one.found) for one in answer.refusals] == [("data_absent", "nothing")]
    assert answer.document()["waits"] is True
    assert f"aifactory mark-present {KEY}@{world.snapshot.version[:16]} --site lab" in answer.refusals[0].fix
    copy(world.snapshot, world.tree)
    assert world.codes() == ["data_absent"]
    world.mark()
    assert world.codes() == []
    (world.tree / KEY / world.snapshot.path.name / "train/a.bin").unlink()
    assert world.codes() == ["data_stale"]


def test_a_site_that_nobody_described_or_sees_is_refused(world: World) -> None:
    world.describe("")
    assert world.codes() == ["unknown_site"]
    world.describe("[lab]\n")
    assert world.codes() == ["site_unseen"]
    world.describe(f'[lab]\nview = "{world.tree}/away"\n')
    assert world.codes() == ["site_unseen"]


def test_a_blind_site_is_told_once_whatever_is_read() -> None:
    facts = at_site("unseen", "no view", "write view")
    assert [one.code for one in gate(replace(facts, inputs=facts.inputs * 3))] == ["site_unseen"]


def test_a_run_waits_for_a_copier_that_is_late_and_out_of_order_and_says_why(world: World) -> None:
    order = reversed(names(world.snapshot))
    copies = [partial(copy, world.snapshot, world.tree, [name]) for name in order]
    said: list[str] = []
    world.wait(said, steps=[*copies, world.mark]).before_the_gate()
    assert world.codes() == []
    name = f"{KEY}@{world.snapshot.version[:16]}"
    assert [line.partition(f"{name} ")[2] for line in said] == [
        "nothing",
        *(f"{number} of 4 files, no marker" for number in range(5)),
        "",
    ]
    assert said[0].startswith("waits for data at the site lab, 30 s at most: ")
    assert said[-1] == "all data is at the site lab"


def test_the_wait_ends_with_its_budget_and_the_gate_then_refuses(world: World) -> None:
    world.describe(f'[lab]\nview = "{world.tree}"\nwait_seconds = 0.3\n')
    copy(world.snapshot, world.tree, names(world.snapshot)[:2])
    said: list[str] = []
    begun = time.monotonic()
    world.wait(said).before_the_gate()
    assert 0.3 <= time.monotonic() - begun < 20
    assert len(said) == 1
    assert world.codes() == ["data_absent"]


@pytest.mark.parametrize("signal", ["stop", "detach"])
def test_the_wait_ends_when_it_is_told_to(signal: Signal, world: World) -> None:
    with pytest.raises(Interrupted) as caught:
        world.wait([], stop=lambda: signal).before_the_gate()
    assert caught.value.signal == signal
    result = launch(world.plan, run="build-say-1", stop=lambda: signal, project=world.lab.project, ns=world.lab.ns)
    assert (result.outcome, result.attempt) == ("cancelled" if signal == "stop" else "detached", 0)
    assert not (world.plan.class_root / "runs" / "build-say-1").exists()


def test_a_later_attempt_waits_again_for_what_the_site_lost_and_is_refused_without_it(world: World) -> None:
    copy(world.snapshot, world.tree)
    world.mark()
    check_in(world.plan, world.wait([]).directory, ns=world.lab.ns, project=world.lab.project)
    world.wait([]).before_a_later_attempt()
    lost = world.tree / KEY / world.snapshot.path.name / "train/a.bin"
    lost.unlink()
    said: list[str] = []
    world.wait(said, steps=[partial(copy, world.snapshot, world.tree)]).before_a_later_attempt()
    assert [line.partition(":")[0] for line in said][1:] == ["all data is at the site lab"]
    assert "3 of 4 files, although it was marked" in said[0]
    lost.unlink()
    world.describe(f'[lab]\nview = "{world.tree}"\nwait_seconds = 0.2\n')
    with pytest.raises(GateRefused) as caught:
        world.wait([]).before_a_later_attempt()
    assert [one.code for one in caught.value.refusals] == ["data_stale"]
    world.describe("[lab]\n")
    world.wait([]).before_a_later_attempt()  # nobody sees it any more: the gate's answer stands


def test_a_run_that_another_reason_refuses_does_not_wait(world: World) -> None:
    world.lab.write("images.toml", "")
    said: list[str] = []
    world.wait(said).before_the_gate()
    assert said == []
    assert world.codes() == ["image_not_pinned", "data_absent"]
    assert not ask(world.plan, project=world.lab.project, ns=world.lab.ns).waits
