"""`aifactory rollback`: make an earlier version current again."""

from __future__ import annotations

from typing import Annotated

import typer

from aifactory.cli.output import JsonOption, person, print_json


def rollback_command(
    key: Annotated[str, typer.Argument(help="A key, such as public/icd10cm/clean.")],
    version: Annotated[str, typer.Argument(help="One of its published versions: 8 or more of its digits.")],
    why: Annotated[str, typer.Option(help="The reason, for who meets it later.")],
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Append to the key's journal that an earlier version is current again.

    Automation never undoes it; a person's materialize does. Dagster learns of it from the journal within seconds.
    """
    from aifactory.namespace import Namespace, Publications

    ns = Namespace.open()
    wanted = ns.resolve(key, version).version
    done = Publications(ns, key).rollback(wanted, writer=person(), why=why)
    if as_json:
        print_json(done.model_dump(mode="json"))
    else:
        before = f" (was {done.previous[:16]})" if done.previous else ""
        print(f"{key} is {done.version[:16]} again{before}: publication {done.n}")
