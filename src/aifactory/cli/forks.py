"""The doctor's look at forks: keys that the first root reads for itself over a read-only one."""

from __future__ import annotations

from collections.abc import Iterator

from aifactory.cli.findings import Finding
from aifactory.errors import FactoryError
from aifactory.project import Project


def forks(project: Project) -> Iterator[Finding]:
    """A line for each fork; a warning where the root below went on, or no longer has what was left."""
    from aifactory.namespace import Namespace
    from aifactory.namespace.forks import fork_of

    if not project.lower:
        return
    try:
        ns = Namespace.of(project)
    except FactoryError:
        return  # which the line about the root says
    for key in ns.keys():  # noqa: SIM118  (a namespace is no mapping)
        try:
            fork = fork_of(ns, key)
        except FactoryError:
            continue  # which the line about the key's record says
        if fork is None:
            continue
        text = f"{key}: {'; '.join(fork.lines)}"
        fix = "" if fork.hidden is None else f'aifactory drop-fork {key} --why "..." reads it from there again'
        if fork.found and not fork.moved:
            yield Finding("fork", "ok", text)
        else:
            yield Finding("fork", "warning", text, fix)
