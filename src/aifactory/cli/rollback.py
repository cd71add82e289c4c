"""`aifactory rollback`: make an earlier version current again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from aifactory.cli.output import JsonOption, person, print_json

if TYPE_CHECKING:
    from aifactory.launch import Refusal
    from aifactory.namespace import Namespace


def rollback_command(
    key: Annotated[str, typer.Argument(help="A key, such as public/icd10cm/clean.")],
    version: Annotated[str, typer.Argument(help="One of its published versions: 8 or more of its digits.")],
    why: Annotated[str, typer.Option(help="The reason, for who meets it later.")],
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Append to the key's journal that an earlier version is current again.

    Automation never undoes it; a person's materialize does. Dagster learns of it from the journal within seconds.
    Warns of a version with a blocking check that is not green: the gate refuses whatever reads it.
    """
    from aifactory.namespace import Namespace, Publications

    ns = Namespace.open()
    found, _ = ns.named(key)
    wanted = ns.resolve(found, version).version
    done = Publications(ns, found).rollback(wanted, writer=person(), why=why)
    warnings = _refused(ns, found, done.version)
    for one in warnings:
        print(f"warning: {one}", file=sys.stderr)
    if as_json:
        print_json(done.model_dump(mode="json") | {"warnings": [vars(one) for one in warnings]})
    else:
        before = f" (was {done.previous[:16]})" if done.previous else ""
        print(f"{found} is {done.version[:16]} again{before}: publication {done.n}")
        if done.left is not None:
            print(f"a fork in {ns.root}: it left publication {done.left.n} of {done.left.root}")


def _refused(ns: Namespace, key: str, version: str) -> list[Refusal]:
    """Why the gate refuses what reads this version, as far as that lies in its checks."""
    from aifactory.launch.gate.gather_inputs import input_fact
    from aifactory.launch.gate.input_rules import of_check
    from aifactory.spec import Context, InputRef

    fact = input_fact(InputRef(role="rollback", kind="dataset", key=key, version=version), Context(), ns)
    return [refusal for check in fact.checks if (refusal := of_check(fact, check)) is not None]
