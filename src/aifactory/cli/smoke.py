"""`aifactory smoke`: prove an image on a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from aifactory.cli.failures import FAILED
from aifactory.cli.launch import Stop, say, show_message
from aifactory.cli.output import JsonOption, console, person, print_json, print_table
from aifactory.cli.plan import Cluster, Image, Priority, Queue


def smoke_command(
    cluster: Cluster = "local",
    image: Image = None,
    queue: Queue = None,
    priority: Priority = None,
    shape: Annotated[str | None, typer.Option(help="A shape of that cluster.")] = None,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Prove an image there: train, kill, resume, compare bit for bit, evaluate; Ctrl-C stops it.

    The image is the one that the checkout makes, or an older one of this machine. Green: the gate lets it train on that
    cluster. What is trained on stands in pyproject.toml, under [tool.aifactory.smoke].
    """
    from aifactory.launch import launch, load_clusters, run_name
    from aifactory.launch.smoke.claim import claim
    from aifactory.launch.smoke.finish import prove, steps_of
    from aifactory.launch.smoke.gone import gone
    from aifactory.launch.smoke.planning import smoke_plan
    from aifactory.launch.smoke.settings import require_smoke
    from aifactory.namespace import Namespace
    from aifactory.project import Project

    project = Project.current()
    ns, settings = Namespace.of(project), require_smoke(project)
    planned = smoke_plan(
        settings,
        cluster,
        image=image,
        queue=queue,
        priority=priority,
        shape=shape,
        requester=f"person:{person()}",
    )
    name = run_name("smoke", cluster)
    if (other := claim(planned, name, requester=f"person:{person()}", ns=ns)) is not None:
        say(f"{other} is at this image on {cluster}: nothing to do")
        return
    say(f"run {name}   image {planned.spec.image.digest}")
    result = launch(planned, run=name, on_message=show_message, on_change=say, stop=Stop().asked)
    steps = steps_of(result.directory)
    if result.succeeded:
        gone(result, load_clusters(project).get(cluster))
        prove(planned, result, settings.version, ns=ns, project=project)
    if as_json:
        print_json(
            {
                "run": name,
                "outcome": result.outcome,
                "directory": str(result.directory),
                "steps": [vars(one) for one in steps],
            }
        )
    else:
        print_table(("step", "outcome", "seconds", "found"), [(s.name, s.outcome, s.seconds, s.text) for s in steps])
        console().print(f"{result.outcome}: {result.directory}")
    if not result.succeeded:
        raise typer.Exit(FAILED)
