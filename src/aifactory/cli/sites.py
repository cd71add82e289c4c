"""`aifactory sites`: what of the namespace is at which site, and saying that a copy is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aifactory.cli.failures import FAILED
from aifactory.cli.output import JsonOption, person, print_json, print_table

if TYPE_CHECKING:
    from aifactory.launch.sites.presence import Check
    from aifactory.launch.sites.registry import Site
    from aifactory.namespace import Namespace, Snapshot

SiteOption = Annotated[str, typer.Option("--site", help="A name of sites.toml.", metavar="SITE")]


def sites_command(
    key: Annotated[
        str | None, typer.Argument(help="A key (its current version) or `key@version`: where it is.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="With a key: read and compare every byte.")] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """List the sites, what they lack of all current versions, and the clusters that mount them; or where a key is.

    The list goes by the markers; with a key the sizes of all files are compared too. Exits 1 where a version that is
    asked about is not whole at a site.
    """
    from aifactory.launch.sites.registry import load_sites
    from aifactory.namespace import Namespace
    from aifactory.project import Project

    project = Project.current()
    ns, sites = Namespace.of(project), load_sites(project)
    if key is None:
        if verify:
            raise typer.BadParameter("--verify needs a key")
        _list(list(sites.values()), ns, project, as_json=as_json)
        return
    rows = _where(ns.resolve(key), list(sites.values()), "bytes" if verify else "sizes")
    if as_json:
        print_json(rows)
    else:
        print_table(("site", "state", "found", "fix"), [[row[name] for name in SHOWN] for row in rows])
    if any(row["state"] != "present" for row in rows):
        raise typer.Exit(FAILED)


SHOWN = ("site", "state", "found", "fix")


def mark_present_command(
    name: Annotated[str, typer.Argument(help="A key (its current version) or `key@version`.", metavar="KEY")],
    site: SiteOption,
    tree: Annotated[
        Path | None,
        typer.Option(help="The site's tree on this machine, where sites.toml's view can't be written.", metavar="DIR"),
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Compare every byte first, not only the sizes.")] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Say that a version was copied to a site: look at every file of it there, then write its marker.

    The last step of a copy. With --tree no site has to be described, and `key@version` needs no journal.
    """
    from aifactory.errors import FactoryError
    from aifactory.launch.sites.marking import mark
    from aifactory.launch.sites.presence import files_of, seen, unseen
    from aifactory.launch.sites.registry import get_site
    from aifactory.namespace import Namespace
    from aifactory.namespace.snapshot import SHORT
    from aifactory.project import Project

    project = Project.current()
    ns = Namespace.of(project)
    key, version = ns.named(name)
    if version is None or len(version) < SHORT:
        version = ns.resolve(name).version
    if tree is None:
        known = get_site(site, project)
        if (tree := seen(known)) is None:
            blind = unseen(known)
            raise FactoryError(
                f"nobody here sees the site {site}",
                found=blind.found,
                expected=blind.expected,
                fix=f"{blind.fix}, or run this at the site with --tree",
                code="site_unseen",
            )
    made = mark(site, tree.absolute(), key, version, verify=verify, writer=person())
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        print(f"{made.key}@{made.version[:SHORT]} is at the site {site}: {files_of(made.files)}, by {made.checked}")


def _where(snapshot: Snapshot, sites: list[Site], check: Check) -> list[dict[str, Any]]:
    from aifactory.launch.sites.presence import at

    found = [at(site, snapshot, check) for site in sites]
    named = {"key": str(snapshot.key), "version": snapshot.version}
    return [
        {**named, "site": one.site, "state": one.state, "found": one.found, "expected": one.expected, "fix": one.fix}
        for one in found
    ]


def _list(sites: list[Site], ns: Namespace, project: Any, *, as_json: bool) -> None:
    from aifactory.launch import load_clusters

    clusters = load_clusters(project)
    snapshots = list(_current(ns))
    rows: list[dict[str, Any]] = []
    for site in sites:
        states = [row["state"] for one in snapshots for row in _where(one, [site], "marker")]
        rows.append(
            {
                "site": site.name,
                "view": str(site.view) if site.view else None,
                "clusters": sorted(name for name, one in clusters.items() if one.site == site.name),
                **{state: states.count(state) for state in ("present", "absent", "stale", "unseen")},
            }
        )
    unknown = sorted({one.site for one in clusters.values()} - {site.name for site in sites})
    if as_json:
        print_json({"sites": rows, "undescribed": unknown})
        return
    columns = ("site", "view", "clusters", "present", "absent", "stale", "unseen")
    cells = [[", ".join(row[name]) if name == "clusters" else row[name] for name in columns] for row in rows]
    print_table(columns, cells, right=columns[3:])
    for name in unknown:
        print(f"the site {name} of clusters.toml has no table in sites.toml")


def _current(ns: Namespace) -> Iterator[Snapshot]:
    from aifactory.errors import FactoryError

    keys = ns.keys()
    for key in keys:
        try:
            yield ns.resolve(key)
        except FactoryError:
            continue  # which `aifactory doctor` tells
