"""The gate: a pure function from gathered facts to every reason not to launch."""

from __future__ import annotations

from dataclasses import dataclass

from aifactory.launch.clusters import close_matches
from aifactory.launch.refusal import Refusal
from aifactory.namespace.access import flows


@dataclass(frozen=True)
class CheckFact:
    """What is known of one blocking check on one version. `passed` None: it has no result."""

    check: str
    passed: bool | None
    reason: str = ""
    run: str = ""


@dataclass(frozen=True)
class InputFact:
    """One input. `published`: its journal has this version. `problem`: why its bytes can't be read, if so.

    `checks`: the blocking checks that its publication lists, and every other blocking check that is red.
    """

    role: str
    kind: str
    key: str
    version: str
    access: str
    published: bool
    benchmark: bool = False
    problem: str = ""
    checks: tuple[CheckFact, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.key}@{self.version[:16]}"


@dataclass(frozen=True)
class Facts:
    """All that the gate looks at. `output` is the key (or line) that is written, `access` its class; `owner` the hash
    of another spec that has the run's directory; `rebuild` the command that makes a missing image."""

    run: str
    kind: str
    spec: str
    output: str
    access: str
    cluster: str
    clusters: tuple[str, ...]
    inputs: tuple[InputFact, ...] = ()
    queue: str | None = None
    priority: str | None = None
    queues: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    image: str = ""
    image_available: bool = True
    rebuild: str = ""
    owner: str | None = None


def gate(facts: Facts) -> list[Refusal]:
    """Every reason not to launch, in a fixed order; none: launch. Never asks whether a version is still current."""
    return [*_run(facts), *_cluster(facts), *(refusal for one in facts.inputs for refusal in _input(facts, one))]


def _run(facts: Facts) -> list[Refusal]:
    found = []
    if facts.owner is not None:
        found.append(
            Refusal(
                "run_owned",
                f"the run {facts.run} belongs to another spec",
                found=facts.owner,
                expected=facts.spec,
                fix="launch under another name, or leave the name out",
            )
        )
    if not facts.image_available:
        found.append(
            Refusal(
                "image_gone",
                "the image of this spec is not on this machine, and the checkout makes another",
                found="no copy",
                expected=facts.image,
                fix=facts.rebuild,
            )
        )
    return found


def _cluster(facts: Facts) -> list[Refusal]:
    if facts.cluster not in facts.clusters:
        return [
            Refusal(
                "unknown_cluster",
                f"there is no cluster {facts.cluster!r}",
                found=facts.cluster,
                expected=close_matches(facts.cluster, list(facts.clusters)),
                fix="name one of clusters.toml, or add it there",
            )
        ]
    found = []
    asked = (("queue", facts.queue, facts.queues), ("priority", facts.priority, facts.priorities))
    for name, value, known in asked:
        if value is not None and value not in known:
            found.append(
                Refusal(
                    f"no_{name}",
                    f"the cluster {facts.cluster} has no {name} {value!r}",
                    found=value,
                    expected=close_matches(value, list(known)),
                    fix=f"leave {name} out" if not known else f"name one that {facts.cluster} has",
                )
            )
    return found


def _input(facts: Facts, one: InputFact) -> list[Refusal]:
    found = []
    if not flows(one.access, facts.access):
        found.append(
            Refusal(
                "class",
                f"{facts.output} is {facts.access} and may not be made from {one.key}",
                found=one.access,
                expected=facts.access,
                fix=f"move {facts.output} under {one.access}, or take {one.key} out of its inputs",
            )
        )
    if one.benchmark and facts.kind in ("train", "smoke") and one.kind != "suite":
        found.append(
            Refusal(
                "benchmark",
                f"{one.name} is a benchmark and may never be trained on",
                found="benchmark=True (its own, or inherited)",
                expected="data that is no benchmark",
                fix=f"take {one.key} out of the mix; name it as a suite instead",
            )
        )
    if not one.published:
        found.append(
            Refusal(
                "input_not_published",
                f"{one.name} was never published",
                found="a version that the key's journal does not have",
                expected="a published version",
                fix=f"run `aifactory launch {one.key}`, or name one of `aifactory versions {one.key}`",
            )
        )
    if one.problem:
        found.append(
            Refusal("input_damaged", f"{one.name} can't be read", found=one.problem, fix=f"materialize {one.key} again")
        )
    return found + [refusal for check in one.checks if (refusal := _check(one, check)) is not None]


def _check(one: InputFact, check: CheckFact) -> Refusal | None:
    if check.passed:
        return None
    if check.passed is None:
        return Refusal(
            "check_missing",
            f"the blocking check {check.check} of {one.name} has no result",
            found="no audit",
            expected="a green one",
            fix=f"run the check on {one.key} in the UI, or materialize it again",
        )
    where = f" (run {check.run})" if check.run else ""
    return Refusal(
        "check_red",
        f"the blocking check {check.check} of {one.name} is red{where}",
        found=check.reason or "red",
        expected="green",
        fix=f"mend {one.key} and materialize it again, or `aifactory rollback {one.key}` to a version that is green",
    )
