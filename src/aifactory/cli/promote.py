"""`aifactory promote`: a checkpoint becomes what its line stands for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from aifactory.cli.failures import FAILED
from aifactory.cli.output import JsonOption, person, print_json

if TYPE_CHECKING:
    from aifactory.launch.checkpoints.promote import Promotion

HELP = "A checkpoint: its path, `<run>/<step>`, or 8 digits or more of its digest."
SECONDS = 2.0
"""Between two lines about a copy."""


def promote_command(
    checkpoint: Annotated[str, typer.Argument(help=HELP, metavar="CHECKPOINT")],
    why: Annotated[str, typer.Option(help="The reason, for who meets it later.")] = "",
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Publish a checkpoint as its line's current snapshot, an input like any other.

    The line is the one that its training belongs to. What stood there before stays a version (`aifactory versions`,
    `aifactory rollback`). Dagster learns of it from the journal within seconds.
    """
    from aifactory.launch.checkpoints.copying import every
    from aifactory.launch.checkpoints.promote import promote
    from aifactory.namespace import Namespace, load_grants
    from aifactory.project import Project

    grants = load_grants(Project.current())
    done = promote(checkpoint, ns=Namespace.open(), writer=person(), why=why, told=every(SECONDS, _say), grants=grants)
    if as_json:
        print_json(describe(done))
    else:
        print(said(done))
    if done.published.outcome == "superseded":
        raise typer.Exit(FAILED)


def describe(done: Promotion) -> dict[str, object]:
    """The promotion as JSON values."""
    publication = done.published.publication
    return {
        "line": str(done.snapshot.key),
        "version": done.snapshot.version,
        "outcome": done.published.outcome,
        "publication": publication.n,
        "previous": publication.previous,
        "checkpoint": done.checkpoint.path,
        "step": done.checkpoint.step,
        "digest": done.checkpoint.digest,
        "run": done.run,
    }


def said(done: Promotion) -> str:
    """One line for a person."""
    publication, line, version = done.published.publication, done.snapshot.key, done.snapshot.version[:16]
    made = f"step {done.checkpoint.step} of {done.run}"
    if done.published.outcome == "unchanged":
        return f"{line} is {version} already ({made}): nothing to do"
    if done.published.outcome == "superseded":
        return (
            f"{line} is {publication.version[:16]}, which {publication.writer} promoted meanwhile; "
            f"to have {made} instead, promote it again"
        )
    before = f" (was {publication.previous[:16]})" if publication.previous else ""
    return f"{line} is {version} now, {made}{before}: publication {publication.n}"


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)
