"""`aifactory plan`: what would run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aifactory.cli.failures import REFUSED
from aifactory.cli.output import JsonOption, console, person, print_json
from aifactory.cli.target import HELP, target

if TYPE_CHECKING:
    from aifactory.launch import Answer, Plan

Target = Annotated[str, typer.Argument(help=HELP, metavar="TARGET")]
OptionalTarget = Annotated[str | None, typer.Argument(help=HELP, metavar="TARGET")]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(help="Changes to the config: `steps=100 model.hidden=128`.", metavar="NAME=VALUE"),
]
Cluster = Annotated[str, typer.Option(help="Where: a name of clusters.toml.")]
Queue = Annotated[str | None, typer.Option(help="A queue of that cluster.")]
Priority = Annotated[str | None, typer.Option(help="A priority of that cluster.")]
Shape = Annotated[
    str | None,
    typer.Option(help="What its pods are given, by that cluster's name; the usual one of this kind of run else."),
]
Pins = Annotated[
    list[str] | None,
    typer.Option(
        "--pin",
        help="Read this version of an input, instead of its current one; a checkpoint, to start from it.",
        metavar="KEY@VERSION",
    ),
]
InputsOf = Annotated[str | None, typer.Option(help="Read what this run read.", metavar="RUN")]
Image = Annotated[str | None, typer.Option(help="Run this older image of this machine.", metavar="DIGEST")]
ResumeFrom = Annotated[
    str | None,
    typer.Option(help="Go on from this checkpoint, on what its run read: `<run>/<step>`.", metavar="CHECKPOINT"),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(help="Launch in spite of this refusal of the gate, named by its code.", metavar="CODE"),
]
Why = Annotated[str, typer.Option(help="The reason for --allow; it stands in the run's records.")]


def plan_command(
    what: Target,
    overrides: Overrides = None,
    cluster: Cluster = "local",
    queue: Queue = None,
    priority: Priority = None,
    shape: Shape = None,
    pins: Pins = None,
    inputs_of: InputsOf = None,
    image: Image = None,
    resume_from: ResumeFrom = None,
    allow: Allow = None,
    why: Why = "",
    mounts: Annotated[bool, typer.Option("--mounts", help="Show which directories the run will see.")] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Resolve what would run, write its frozen spec and nothing else, and print its hash.

    `aifactory launch HASH` then launches exactly that. The gate is asked as a launch would ask it; what it would refuse
    is listed, and this command then exits 3 as that would.
    """
    from aifactory.cli.mounts import rows, show_mounts
    from aifactory.launch import ask

    pinned: dict[str, Any] = {"pins": pins, "inputs_of": inputs_of, "image": image, "resume_from": resume_from}
    pinned |= {"shape": shape, "allow": allow, "why": why}
    planned = make(what, overrides, cluster, queue, priority, **pinned)
    answer = ask(planned)
    if as_json:
        seen = {"mounts": rows(planned)} if mounts and not answer.refusals else {}
        print_json(describe(planned) | seen | {"gate": answer.document()})
    else:
        show(planned, answer)
        if mounts and not answer.refusals:
            show_mounts(planned)
    if answer.refusals:
        raise typer.Exit(REFUSED)


def make(
    what: str | None,
    overrides: list[str] | None,
    cluster: str,
    queue: str | None,
    priority: str | None,
    spec: str | None = None,
    *,
    shape: str | None = None,
    allow: list[str] | None = None,
    why: str = "",
    pins: list[str] | None = None,
    inputs_of: str | None = None,
    image: str | None = None,
    resolution: int | None = None,
    deadline: float | None = None,
    stall: float | None = None,
    prefetch: bool = False,
    resume_from: str | None = None,
) -> Plan:
    """The plan that the options name: of a target, or of the frozen spec whose hash begins with `spec`."""
    from aifactory.launch import plan
    from aifactory.namespace import Namespace
    from aifactory.project import Project
    from aifactory.spec import load_frozen

    project = Project.current()
    if what is None and spec is None:
        raise typer.BadParameter("name what to run: a TARGET, or --spec HASH")
    if what is not None and spec is not None:
        raise typer.BadParameter(f"--spec takes no target and no overrides, since a frozen spec is whole: {what}")
    return plan(
        load_frozen(Namespace.of(project), spec).spec.hash if spec is not None else target(str(what), project),
        cluster=cluster,
        overrides=overrides or (),
        queue=queue,
        priority=priority,
        shape=shape,
        requester=f"person:{person()}",
        allow=allow or (),
        why=why,
        pins=pins or (),
        inputs_of=inputs_of,
        image=image,
        resolution=resolution,
        deadline_seconds=deadline,
        stall_seconds=stall,
        resume_from=resume_from,
        prefetch=prefetch,
        project=project,
    )


def describe(planned: Plan) -> dict[str, Any]:
    """The plan as JSON."""
    return {
        "hash": planned.hash,
        "kind": planned.kind,
        "path": str(planned.path),
        "spec": planned.spec.model_dump(mode="json"),
        "context": planned.context.model_dump(mode="json"),
    }


def show(planned: Plan, answer: Answer) -> None:
    """The plan for a person: what decides the result, what doesn't, and what the gate says."""
    from rich.text import Text

    out = console()
    out.print(Text.assemble((f"{planned.kind} ", "bold"), planned.label, "   spec ", (planned.hash, "bold")))
    out.print(Text("what decides the result", "bold"))
    for name, value in _flat(planned.spec.config.model_dump(mode="json")):
        out.print(Text(f"  {name:34} {value}"))
    for one in planned.spec.inputs:
        part = f" ({one.part})" if one.part else ""
        out.print(Text(f"  {'input ' + one.role:34} {one.key}@{one.version[:16]}{part}"))
    out.print(Text(f"  {'image':34} {planned.spec.image.name} {planned.spec.image.digest[:16]}"))
    out.print(Text("where and for whom", "bold"))
    context = planned.context
    commit = (context.commit or "no commit")[:16] + (" with uncommitted changes" if context.dirty else "")
    rows = {
        "cluster": context.cluster,
        "queue": context.queue,
        "priority": context.priority,
        "shape": context.shape,
        "site": context.site if context.cluster != "local" else None,
        "image pulled": context.image_reference,
        "line": context.line,
        "suites": ", ".join(f"{suite.key}@{suite.version[:16]}" for suite in context.suites),
        "pinned": ", ".join(context.pins),
        "grants": ", ".join(f"{one.source} -> {one.target}" for one in context.grants),
        "commit": commit,
        "frozen spec": planned.path,
    }
    for name, value in rows.items():
        if value:
            out.print(Text(f"  {name:34} {value}"))
    out.print(Text.assemble(("gate ", "bold"), "passes" if not answer.refusals else "would refuse it"))
    for refusal in answer.refusals:
        out.print(Text("\n".join(f"  {line}" for line in str(refusal).splitlines()), "red"))
    if answer.waits:
        out.print(Text("a launch waits for this data as long as its site allows (wait_seconds of sites.toml)", "dim"))
    if not answer.refusals:
        out.print(Text(f"launch it: {command(planned)}", "dim"), soft_wrap=True)


def command(planned: Plan) -> str:
    """What launches exactly this plan: the spec by its hash, and where it was to go."""
    context, words = planned.context, ["aifactory", "launch", planned.hash]
    if context.cluster != "local":
        words += ["--cluster", context.cluster]
    for name in ("queue", "priority", "shape"):
        if value := getattr(context, name):
            words += [f"--{name}", value]
    for code in context.allow:
        words += ["--allow", code]
    if context.allow:
        words += ["--why", context.why]
    return shlex.join(words)


def _flat(config: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in config.items():
        if isinstance(value, dict) and value:
            found += _flat(value, f"{prefix}{name}.")
        else:
            found.append((prefix + name, value))
    return found
