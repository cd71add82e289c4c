"""`aifactory prefetch`: read a version once at a site, ahead of a run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from aifactory.cli.output import JsonOption, print_json, size


def prefetch_command(
    name: Annotated[str, typer.Argument(help="A key (its current version) or `key@version`.", metavar="KEY")],
    site: Annotated[str, typer.Option("--site", help="A name of sites.toml.", metavar="SITE")] = "here",
    part: Annotated[str | None, typer.Option(help="Only this part's files: train, val or test.")] = None,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Read every file of a version once at a site, so that a run finds it in the caches on the way, and compare it with
    its digest.

    Reads through the site's view on this machine. Refused where the version is not whole there.
    """
    from aifactory.launch.sites.prefetch import Progress, of_snapshot, read
    from aifactory.launch.sites.presence import files_of
    from aifactory.launch.sites.registry import get_site
    from aifactory.namespace import Namespace
    from aifactory.project import Project

    project = Project.current()
    what = of_snapshot(get_site(site, project), Namespace.of(project).resolve(name), part)
    progress = Progress([what], lambda text: print(text, file=sys.stderr, flush=True), every=2.0)
    count = read(what, progress)
    seconds = progress.seconds
    if as_json:
        found = {
            "name": what.name,
            "site": site,
            "files": len(what.files),
            "bytes": count,
            "seconds": round(seconds, 3),
        }
        print_json(found)
    else:
        rate = size(int(count / max(seconds, 1e-9)))
        print(
            f"{what.name} at the site {site}: {files_of(len(what.files))}, {size(count)} in {seconds:.1f} s ({rate}/s)"
        )
