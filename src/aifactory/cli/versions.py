"""`aifactory versions`: what a key stood for, and what made it."""

from __future__ import annotations

from typing import Annotated

import typer

from aifactory.cli.output import JsonOption, print_json, print_table, size


def versions_command(
    key: Annotated[str, typer.Argument(help="A key, such as public/icd10cm/clean.")],
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """List a key's publications, the newest first: version, time, run and reason. The first one is current."""
    from aifactory.errors import FactoryError
    from aifactory.namespace import Namespace, Publications

    ns = Namespace.open()
    records = Publications(ns, key).all()[::-1]
    if not records:
        ns.resolve(key)
        raise FactoryError(f"{key} has no publications", code="unpublished")
    if as_json:
        current = records[0].n
        print_json([record.model_dump(mode="json") | {"current": record.n == current} for record in records])
        return
    rows = [
        (
            record.n,
            record.version[:16] + (" *" if index == 0 else ""),
            record.action,
            record.at[:19].replace("T", " "),
            record.rows,
            size(record.bytes),
            record.run,
            record.writer,
            record.why,
        )
        for index, record in enumerate(records)
    ]
    print_table(
        ("n", "version", "action", "at (UTC)", "rows", "size", "run", "by", "why"), rows, right=("n", "rows", "size")
    )
    print("* current")
