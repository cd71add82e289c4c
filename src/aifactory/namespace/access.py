"""Classes and their algebra: what may be made from what.

A class is written as "public" or "private/<project>", and a key's path says its class. So one edge of the graph is
enough to check: an output that is declared as high as its inputs has their class, whatever lies behind them, and where
every edge is allowed no path leads from private to public. (tests/launch/test_graphs.py holds that against
reachability.) Grants chain in the same way: what project B made of A's data under a grant is B's, and goes on to C
under a grant from B.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from aifactory.errors import FactoryError
from aifactory.namespace.keys import check_segment

PUBLIC = "public"


@dataclass(frozen=True)
class Grant:
    """A written permission: data of the project `source` may flow into what the project `target` owns.

    Both are private classes; nothing can grant a flow from private to public. `why` says who allowed it.
    """

    source: str
    target: str
    why: str

    def __post_init__(self) -> None:
        for access in (self.source, self.target):
            if validate(access) == PUBLIC:
                raise FactoryError(
                    f"a grant from {self.source} to {self.target}",
                    found=access,
                    expected="two private classes, private/<project>",
                    fix="pass the data through the restricted zone's crossing instead; no grant makes it public",
                    code="class",
                )
        if self.source == self.target:
            raise FactoryError(
                f"a grant from {self.source} to itself",
                found=self.target,
                expected="another project",
                fix="remove it: what a project owns may use its own data",
                code="class",
            )
        if not self.why.strip():
            raise FactoryError(
                f"a grant from {self.source} to {self.target} says no reason",
                fix="fill in `why`: who allowed it, and where that is written",
                code="class",
            )


@lru_cache(1024)
def validate(access: str) -> str:
    """`access` itself when it's a class; FactoryError "class" otherwise."""
    first, _, project = access.partition("/")
    if access != PUBLIC and first != "private":
        raise FactoryError(
            f"{access!r} is not a class",
            found=repr(access),
            expected="public or private/<project>",
            fix="write one of the two forms",
            code="class",
        )
    if access != PUBLIC:
        check_segment(project, repr(access))
    return access


def flows(source: str, target: str, grants: Iterable[Grant] = ()) -> bool:
    """Whether data of class `source` may be part of something of class `target`."""
    if validate(source) == PUBLIC or source == validate(target):
        return True
    return target != PUBLIC and any(grant.source == source and grant.target == target for grant in grants)


def derive(inputs: Iterable[str], grants: Iterable[Grant] = ()) -> str:
    """The lowest class that something made from inputs of these classes can have.

    Public only from public; the one private class among them; of several, the one that grants let all others flow
    into. Raises FactoryError "class" when there is no such one, or more than one.
    """
    grants = tuple(grants)
    owners = sorted({validate(access) for access in inputs} - {PUBLIC})
    if len(owners) < 2:
        return owners[0] if owners else PUBLIC
    able = [target for target in owners if all(flows(source, target, grants) for source in owners)]
    if len(able) == 1:
        return able[0]
    raise FactoryError(
        f"inputs of {len(owners)} projects have no one class" if not able else "grants leave several classes to choose",
        found=", ".join(owners),
        expected="one project, or a grant from each other project to it",
        fix=f"add a written grant, for example from {owners[0]} to {owners[1]}, or drop an input"
        if not able
        else f"declare the class yourself: {' or '.join(able)}",
        code="class",
    )


def check(declared: str, inputs: Mapping[str, str], grants: Iterable[Grant] = (), *, output: str = "") -> None:
    """Raises FactoryError "class" when something declared as `declared` may not be made from `inputs`.

    `inputs` maps each input's key to its class; `output` is the key of what is made, for the message. The error
    names every edge that is refused.
    """
    grants = tuple(grants)
    refused = {key: access for key, access in sorted(inputs.items()) if not flows(access, declared, grants)}
    if not refused:
        return
    name = output or f"something {declared}"
    edges = ", ".join(f"{key} -> {name}" for key in refused)
    owners = sorted(set(refused.values()))
    fix = f"move it under {owners[0]}" if len(owners) == 1 else "keep it to one project"
    if declared != PUBLIC:
        fix += "".join(f", or add a written grant from {owner} to {declared}" for owner in owners)
        fix += " ([[tool.aifactory.grants]] in pyproject.toml)"
    raise FactoryError(
        f"{name} is declared {declared}, which is lower than its inputs allow: {edges}",
        found=declared,
        expected=" and ".join(owners),
        fix=fix,
        code="class",
    )


def check_graph(inputs: Mapping[str, Iterable[str]], grants: Iterable[Grant] = ()) -> None:
    """Raises FactoryError "class" naming every edge that is refused; `inputs` are keys by the key that is made of them.

    Keys are taken as they are: each is valid, and its first segments are its class.
    """
    grants = tuple(grants)
    allowed: dict[tuple[str, str], bool] = {}
    refused: dict[str, dict[str, str]] = {}
    for made, read in inputs.items():
        target = of_key(made)
        for key in read:
            source = of_key(key)
            pair = (source, target)
            if pair not in allowed:
                allowed[pair] = flows(source, target, grants)
            if not allowed[pair]:
                refused.setdefault(made, {})[key] = source
    errors: list[FactoryError] = []
    for made in sorted(refused):
        try:
            check(of_key(made), refused[made], grants, output=made)
        except FactoryError as error:
            errors.append(error)
    if len(errors) > 1:
        raise FactoryError(
            f"{len(errors)} outputs are declared lower than their inputs allow:\n"
            + "\n".join(f"  {error.what.partition(': ')[2]} (fix: {error.fix})" for error in errors),
            found=f"{sum(len(read) for read in refused.values())} edges that are not allowed",
            expected="none",
            fix="mend each as it says there",
            code="class",
        )
    if errors:
        raise errors[0]


def of_key(key: str) -> str:
    """The class of a valid key; of anything else inside the tree too, such as `public/runs/<run>`."""
    return PUBLIC if key.startswith("public/") else "/".join(key.split("/", 2)[:2])
