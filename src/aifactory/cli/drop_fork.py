"""`aifactory drop-fork`: read a key from the mount again."""

from __future__ import annotations

from typing import Annotated

import typer

from aifactory.cli.output import JsonOption, person, print_json


def drop_fork_command(
    key: Annotated[str, typer.Argument(help="A key, such as public/icd10cm/clean.")],
    why: Annotated[str, typer.Option(help="The reason, for who meets it later.")],
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """End the fork of a key: it stands again for what the read-only roots of AIFACTORY_ROOT say.

    The journal keeps what the fork was. Its snapshots are removed by the nightly sweep, a week from now at the
    earliest. Automation does not build the same again; a person's materialize does.
    """
    from aifactory.namespace import Namespace, Publications

    ns = Namespace.open()
    found, _ = ns.named(key)
    back = Publications(ns, found).drop(writer=person(), why=why)
    if as_json:
        print_json({"key": str(found), **back.model_dump(mode="json")})
    else:
        print(f"{found} is {back.version[:16]} again: publication {back.n} by {back.writer}")
