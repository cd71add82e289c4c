"""`aifactory path`: where a name stands on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from aifactory.cli.output import JsonOption, print_json


def path_command(
    name: Annotated[str, typer.Argument(help="A key, `key@version`, `/factory/...` or a local path.")],
    part: Annotated[str | None, typer.Option(help="Only this part's files: train, val or test.")] = None,
    files: Annotated[bool, typer.Option("--files", help="The snapshot's files, one a line.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare every file with its digest first.")] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Print the local path of a name; a key without a version stands for its current snapshot."""
    from aifactory.namespace import Key, Namespace

    ns = Namespace.open()
    place = ns.local(name)
    found: dict[str, object] = {"path": str(place), "canonical": ns.canonical(place)}
    lines = [str(place)]
    name = ns.short(name)
    bare = name.partition("@")[0]
    if files or part or verify or as_json:
        key = name.startswith(("public/", "private/")) and "/@" not in name
        if key and (not Key(bare).is_line or place.name.startswith("@")):
            snapshot = ns.resolve(name)
            if verify:
                snapshot.verify()
            lines = [str(path) for path in snapshot.paths(part)]
            found |= {"key": str(snapshot.key), "version": snapshot.version, "files": lines}
        elif files or part or verify:
            raise typer.BadParameter("--files, --part and --verify need a key or key@version")
    if as_json:
        print_json(found)
    else:
        print("\n".join(lines if files or part else [str(place)]))
