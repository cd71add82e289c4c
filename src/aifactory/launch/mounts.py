"""Which directories an attempt sees, and which of them it may write: a pure function of its spec.

The names are canonical (`/factory/...`), so what is mounted stands where every name says that it does. A site's backend
mounts `root / mount.path` at `mount.target`; nothing else of the namespace is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.summary import RUNS
from aifactory.namespace import Grant, access
from aifactory.namespace.names import PREFIX
from aifactory.namespace.snapshot import folder
from aifactory.spec import RunSpec, access_of_run
from aifactory.spec.declared import place_of


@dataclass(frozen=True)
class Mount:
    """One directory. `target` is its canonical name, and where an attempt finds it; `why` is for people."""

    target: str
    read_only: bool
    why: str

    @property
    def path(self) -> str:
        """Relative to the root of a site's tree: the source of a bind mount, or the `subPath` of a volume."""
        return self.target.removeprefix(f"{PREFIX}/")

    def source(self, root: Path) -> Path:
        """Where it lies at a site whose tree is at `root`."""
        return root / self.path

    @property
    def access(self) -> str:
        """Its class."""
        return access.of_key(self.path)


def mounts(
    spec: RunSpec, run: str, of: str, *, places: Mapping[str, str] | None = None, grants: Iterable[Grant] = ()
) -> tuple[Mount, ...]:
    """The directories of the run named `run` of class `of`, sorted by their names.

    Read-only: the snapshot of every input, and of a checkpoint the directory at `places` (canonical paths by role).
    Read-write: the run's own directory. A build also gets the directory of the key that it makes: sealing renames
    `@staging-<run>` to `@<version>` within it, and publishing appends to its `@journal`; a rename can't cross mounts.

    Raises FactoryError: "class" when something is to be mounted that the run's class may not read, or be written that
    is not of its class; "checkpoint" for one without a place.
    """
    root = f"{PREFIX}/{access.validate(of)}/{RUNS}/{run}"
    found = {root: Mount(root, False, "the run's own directory")}
    if spec.kind == "build":
        own = f"{PREFIX}/{spec.build.key}"
        found[own] = Mount(own, False, "what is built: staging, snapshots, journal, audits")
    for ref in spec.inputs:
        checkpoint = ref.kind == "checkpoint"
        target = place_of(ref, places or {}) if checkpoint else f"{PREFIX}/{ref.key}/{folder(ref.version)}"
        whys = [one.why for one in (found.get(target),) if one is not None]
        found[target] = Mount(target, True, ", ".join(dict.fromkeys([*whys, f"input {ref.role}"])))
    plan = tuple(found[target] for target in sorted(found))
    _allowed(plan, run, of, tuple(grants))
    return plan


def mounts_of(plan: Plan, run: str) -> tuple[Mount, ...]:
    """The mounts of a plan that is launched as `run`; FactoryError as `mounts` raises."""
    of = access_of_run(plan.class_root / RUNS / run)
    if of is None:
        raise FactoryError(
            f"the frozen spec {plan.path} stands under no class",
            found=str(plan.class_root),
            expected="<namespace>/public or <namespace>/private/<project>",
            fix="plan it again",
            code="class",
        )
    return mounts(plan.spec, run, of, places=plan.context.places, grants=plan.context.grants)


def _allowed(plan: tuple[Mount, ...], run: str, of: str, grants: tuple[Grant, ...]) -> None:
    access.check(
        of, {one.target: one.access for one in plan if one.read_only}, grants, output=f"a mount of the run {run}"
    )
    for one in plan:
        if not one.read_only and one.access != of:
            raise FactoryError(
                f"the run {run} is {of} and may not write {one.target}",
                found=one.access,
                expected=of,
                fix=f"plan it anew: what makes {one.path} runs as {one.access}",
                code="class",
            )
