"""The gate's reasons that lie in one input."""

from __future__ import annotations

from aifactory.launch.gate.facts import CheckFact, Facts, InputFact
from aifactory.launch.refusal import Refusal
from aifactory.namespace.access import PUBLIC, flows

TRAINING = ("train", "smoke")


def of_input(facts: Facts, one: InputFact) -> list[Refusal]:
    """Every reason not to launch that lies in this input."""
    found = []
    if not flows(one.access, facts.access, facts.grants):
        found.append(mismatch(facts, one.key, one.access))
    if one.benchmark and facts.kind in TRAINING and one.kind != "suite":
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
    found += _shape(facts, one)
    return found + [refusal for check in one.checks if (refusal := of_check(one, check)) is not None]


def mismatch(facts: Facts, key: str, access: str) -> Refusal:
    """The refusal of an input of a class that the output may not hold; no override reaches it."""
    grant = f", or add a written grant from {access} to {facts.access} in pyproject.toml"
    return Refusal(
        "class",
        f"{facts.output} is {facts.access} and may not be made from {key}",
        found=access,
        expected=facts.access,
        fix=f"move {facts.output} under {access}, or take {key} out of its inputs"
        + (grant if facts.access != PUBLIC else ""),
    )


def _shape(facts: Facts, one: InputFact) -> list[Refusal]:
    """Weights go on in a model of their own shape only."""
    if facts.kind not in TRAINING or one.shape is None or facts.shape is None or one.shape == facts.shape:
        return []
    theirs, ours = dict(one.shape), dict(facts.shape)
    names = [name for name in sorted({*theirs, *ours}) if theirs.get(name) != ours.get(name)]
    return [
        Refusal(
            "shape",
            f"{one.name} holds a model of another shape than the one that is to be trained",
            found=", ".join(f"model.{name}={theirs.get(name)}" for name in names),
            expected=", ".join(f"model.{name}={ours.get(name)}" for name in names),
            fix="give the recipe the checkpoint's shape, or start from a checkpoint of this one",
        )
    ]


def of_check(one: InputFact, check: CheckFact) -> Refusal | None:
    """Why what reads this input would be refused for this check, if it would."""
    if check.passed:
        return None
    if check.passed is None and check.elsewhere:
        return Refusal(
            "check_elsewhere",
            f"the blocking check {check.check} was audited on another version than {one.name}",
            found=f"{one.key}@{check.elsewhere}",
            expected=one.name,
            fix=f"run the check on {one.key} in the UI, or materialize it again",
        )
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
