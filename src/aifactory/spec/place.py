"""A run's directory has a class, and everything that the run reads must be allowed there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace import Grant, Key, access
from aifactory.spec.context import Context
from aifactory.spec.declared import CANONICAL, place_of
from aifactory.spec.run_spec import RunSpec


def access_of_run(directory: Path) -> str | None:
    """The class of `<class root>/runs/<run>`: "public" or "private/<project>"; None for one that stands elsewhere."""
    runs, root = directory.parent, directory.parent.parent
    if runs.name != "runs":
        return None
    # No project is called public: a key's segments may not be words of classes.
    if root.name == access.PUBLIC:
        return access.PUBLIC
    return f"private/{root.name}" if root.parent.name == "private" else None


def check_place(directory: Path, keys: Iterable[str], grants: Iterable[Grant] = ()) -> None:
    """Raises FactoryError "class", naming each edge, when the class that `directory` stands under may not hold what is
    made from `keys` (or from other names in the tree, such as `public/runs/<run>`); for a directory that stands under
    no class too, unless there is nothing to hold."""
    keys = tuple(keys)
    found = access_of_run(directory)
    if found is None and keys:
        raise FactoryError(
            f"the run's directory {directory} stands under no class",
            found=str(directory.parent),
            expected="<namespace>/public/runs or <namespace>/private/<project>/runs",
            fix="launch it by `aifactory launch`, which puts it there",
            code="class",
        )
    if found is not None:
        read = {key: access.of_key(key) for key in keys}
        access.check(found, read, grants, output=f"the run {directory.name} in {found}/runs")


def check_run(directory: Path, spec: RunSpec, context: Context) -> None:
    """The same for all that a run reads, with its suites, under the grants of its context; a checkpoint has the class
    of its place too. What a run writes (the key of a build, the line of a training) must be of the directory's own
    class.

    Raises FactoryError "class", and "checkpoint" for one whose place is not known.
    """
    places = [place_of(ref, context.places).removeprefix(CANONICAL) for ref in spec.inputs_of("checkpoint")]
    check_place(directory, [*(ref.key for ref in (*spec.inputs, *context.suites)), *places], context.grants)
    own = spec.build.key if spec.kind == "build" else context.line
    if own is None or (declared := Key.parse(own).access) == (found := access_of_run(directory)):
        return
    raise FactoryError(
        f"{own} and the directory of the run {directory.name} are of two classes",
        found=f"{found}/runs/{directory.name}",
        expected=f"{declared}/runs/{directory.name}",
        fix="plan it anew: a run's whole directory has the class of what it makes",
        code="class",
    )
