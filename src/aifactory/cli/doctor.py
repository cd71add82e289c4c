"""`aifactory doctor`: what this machine lacks, and what is wrong with the records."""

from __future__ import annotations

from typing import Annotated

import typer

from aifactory.cli.failures import FAILED
from aifactory.cli.output import JsonOption, console, print_json


def doctor_command(
    cluster: Annotated[
        str | None, typer.Argument(help="A cluster of clusters.toml, to look at it instead of at this machine.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Compare every published file with its digest too.")] = False,
    init_root: Annotated[
        bool, typer.Option("--init-root", help="First give each class root its owner and mode, as root.")
    ] = False,
    pod: Annotated[
        bool, typer.Option("--pod", help="With a CLUSTER: a pod of each class looks at its mount, for some seconds.")
    ] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Look at Python, disk, root, environments, definitions, sources, services, records, and who may read and write.

    With a CLUSTER: whether it answers, our token, rights, KubeRay, queues, volumes, accounts, clocks. Names what is
    missing or broken, and the fix. Fails when something is broken; a warning is no failure.
    """
    from rich.text import Text

    if cluster is not None:
        from aifactory.cli.doctor_cluster import doctor_cluster

        if verify or init_root:
            raise typer.BadParameter("--verify and --init-root look at this machine: leave CLUSTER out")
        doctor_cluster(cluster, pod=pod, as_json=as_json)
        return
    if pod:
        raise typer.BadParameter("--pod looks from a cluster: name one")
    from aifactory.cli.findings import Finding, machine, records, work
    from aifactory.cli.forks import forks
    from aifactory.cli.owners import lay_out_roots, owners
    from aifactory.project import Project

    project = Project.current()
    laid = lay_out_roots(project) if init_root else ()
    findings: list[Finding] = [
        *(Finding("init-root", "ok", line) for line in laid),
        *machine(project),
        *work(project),
        *owners(project),
        *records(project, verify=verify),
        *forks(project),
    ]
    broken = any(one.state == "broken" for one in findings)
    if as_json:
        print_json({"healthy": not broken, "findings": [vars(one) for one in findings]})
    else:
        out = console()
        for one in findings:
            style = {"ok": "green", "warning": "yellow", "broken": "bold red"}[one.state]
            out.print(Text.assemble((f"{one.state:8} ", style), f"{one.name:14} {one.text}"))
            if one.fix:
                out.print(Text(f"{'':24}fix: {one.fix}"))
    if broken:
        raise typer.Exit(FAILED)
