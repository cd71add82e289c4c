"""`aifactory diff`: what differs between two runs, and nothing else does."""

from __future__ import annotations

from typing import Annotated

import typer

from aifactory.cli.output import JsonOption, console, print_json

HELP = (
    "A run's name, a spec file, the hash of a frozen spec (8 digits or more), or what can be planned: a recipe, a "
    "stage's key, a checkpoint."
)


def diff_command(
    old: Annotated[str, typer.Argument(help=HELP, metavar="A")],
    new: Annotated[str, typer.Argument(help="The other one, named in any of these ways.", metavar="B")],
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Compare two runs field by field: code, data, image, config and, for completeness, context.

    Data is told by version with its rows, bytes and files; an image by its packages; code by commits and files. Two
    runs of one spec are "identical except: []". A recipe that is named freezes its spec, as `aifactory plan` does.
    """
    from rich.text import Text

    from aifactory.launch.compare import compare, side
    from aifactory.namespace import Namespace
    from aifactory.project import Project
    from aifactory.spec.diff_text import lines

    project = Project.current()
    ns = Namespace.of(project)
    found = compare(*(side(name, project=project, ns=ns) for name in (old, new)), project=project, ns=ns)
    if as_json:
        print_json(found.document())
        return
    out = console()
    for mark, name, hash in zip("AB", (found.old, found.new), found.hashes, strict=True):
        out.print(Text.assemble((f"{mark}  ", "bold"), f"{name}   spec {hash}"), soft_wrap=True)
    for line in lines(found):
        out.print(Text(line, "" if line.startswith(" ") else "bold"), soft_wrap=True)
