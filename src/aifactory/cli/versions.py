"""`aifactory versions`: what a key stood for, and what made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from aifactory.cli.output import JsonOption, print_json, print_table, size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aifactory.namespace import Publication, Publications


def versions_command(
    key: Annotated[str, typer.Argument(help="A key, such as public/icd10cm/clean.")],
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """List a key's publications, the newest first: version, time, run and reason.

    Over read-only roots also where each stands, which ones a fork hides, and what it left.
    """
    from aifactory.errors import FactoryError
    from aifactory.namespace import Namespace, Publications
    from aifactory.namespace.forks import fork_of

    ns = Namespace.open()
    found, _ = ns.named(key)
    records = list(_listed(Publications(ns, found)))
    if not records:
        ns.resolve(found)
        raise FactoryError(f"{found} has no publications", code="unpublished")
    if as_json:
        place = [{"root": str(root), "hidden": hidden} if ns.lower else {} for _, root, hidden in records]
        print_json(
            [
                record.model_dump(mode="json") | {"current": index == 0} | place[index]
                for index, (record, _, _) in enumerate(records)
            ]
        )
        return
    rows = [
        (
            record.n,
            record.version[:16] + (" *" if index == 0 else " -" if hidden else ""),
            record.action,
            record.at[:19].replace("T", " "),
            record.rows,
            size(record.bytes),
            record.run,
            record.writer,
            record.why,
            *([ns.roots.index(root) + 1] if ns.lower else []),
        )
        for index, (record, root, hidden) in enumerate(records)
    ]
    columns = ("n", "version", "action", "at (UTC)", "rows", "size", "run", "by", "why")
    print_table((*columns, *(["root"] if ns.lower else [])), rows, right=("n", "rows", "size", "root"))
    print("* current" + (", - hidden" if any(hidden for _, _, hidden in records) else ""))
    for index, root in enumerate(ns.roots if ns.lower else (), 1):
        print(f"root {index}: {root}{' (read only)' if index > 1 else ''}")
    for drop in Publications(ns, found).drops():
        print(f"a fork was dropped {drop.at[:19].replace('T', ' ')} by {drop.writer}: {drop.body['why']}")
    fork = fork_of(ns, found)
    if fork is not None:
        print("\n".join(fork.lines))
        if fork.hidden is not None:
            print(f'aifactory drop-fork {found} --why "..." reads it from {fork.below} again')


def _listed(publications: Publications) -> Iterator[tuple[Publication, Path, bool]]:
    """Publications, the newest first, with their roots; behind the key's own those that it hides."""
    histories = publications.histories()
    root_of = {one.sha256: history.root for history in histories for one in history.own}
    own = {one.sha256 for history in histories[:1] for one in history.records}
    for record in reversed(publications.everywhere()):
        yield record, root_of[record.sha256], record.sha256 not in own
