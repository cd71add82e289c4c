"""`aifactory runs`: what ran, and how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from aifactory.cli.output import JsonOption, console, person, print_json, print_table

if TYPE_CHECKING:
    from pathlib import Path

    from aifactory.channel import Failure
    from aifactory.launch.runs.summary import RunSummary


def runs_command(
    run: Annotated[str | None, typer.Argument(help="One run: everything about it.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only build, train, evaluate or smoke.")] = None,
    state: Annotated[str | None, typer.Option(help="Only runs of this state: running, succeeded, ...")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest.")] = 30,
    stop: Annotated[bool, typer.Option("--stop", help="Stop that run, and wait until it has ended.")] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """List the runs of the namespace, the newest first, or show (or stop) one."""
    from aifactory.launch.runs.summary import STATES, runs
    from aifactory.launch.stopping import stop as stop_run
    from aifactory.namespace import Namespace
    from aifactory.spec.run_spec import Kind

    _known("--kind", kind, get_args(Kind))
    _known("--state", state, STATES)
    ns = Namespace.open()
    if run is None:
        if stop:
            raise typer.BadParameter("--stop needs the name of a run")
        found = [
            one for one in runs(ns) if (kind is None or one.kind == kind) and (state is None or one.state == state)
        ][:limit]
        _list(found, as_json, filtered=kind is not None or state is not None)
        return
    if stop:
        print(stop_run(ns, run, writer=person()))
        return
    facts = _facts(run)
    if as_json:
        print_json(facts)
    else:
        _show(facts)


def _known(option: str, value: str | None, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise typer.BadParameter(f"{option} {value}: it is one of {', '.join(known)}")


def _list(found: list[RunSummary], as_json: bool, *, filtered: bool) -> None:
    if as_json:
        print_json([vars(one) | {"directory": str(one.directory)} for one in found])
        return
    if not found:
        print("no run is like that" if filtered else "nothing has run yet: `aifactory launch <recipe or key>`")
        return
    rows = [
        (
            one.run,
            one.kind,
            one.state,
            one.about or one.recipe or one.target,
            (one.started or "")[:19].replace("T", " "),
            one.requester,
        )
        for one in found
    ]
    print_table(("run", "kind", "state", "of", "started (UTC)", "by"), rows)


def _facts(run: str) -> dict[str, Any]:
    from aifactory.channel.logs import driver_log
    from aifactory.launch.runs.attempts import Attempts
    from aifactory.launch.runs.summary import get_run, summary
    from aifactory.namespace import Namespace
    from aifactory.spec import Context, RunSpec

    ns = Namespace.open()
    directory = get_run(ns, run)
    attempts = Attempts(directory)
    return vars(summary(directory, away=ns.is_away(directory))) | {
        "directory": str(directory),
        "spec": RunSpec.load(directory / "spec.json").model_dump(mode="json"),
        "context": Context.load(directory / "context.json").model_dump(mode="json"),
        "tries": [
            {
                **_why(attempts.path(one.number), ended=one.outcome is not None, error=one.error),
                "number": one.number,
                "outcome": one.outcome,
                "started": one.started,
                "ended": one.ended,
                "error": one.error.model_dump() if one.error else None,
                "log": str(driver_log(attempts.path(one.number))),
            }
            for one in attempts.all()
        ],
        "messages": _messages(attempts.path(attempts.all()[-1].number)) if attempts.all() else [],
    }


def _why(attempt: Path, *, ended: bool, error: Failure | None) -> dict[str, Any]:
    """Why it waits, or what mends it and where its evidence is."""
    from aifactory.launch.runs.incident import FOLDER, Incident
    from aifactory.launch.runs.reasons import fix_of
    from aifactory.launch.runs.state import State

    state = None if ended else State.load(attempt)
    incident = Incident.load(attempt)
    return {
        "state": vars(state) if state is not None else None,
        "fix": fix_of(error.code) if error is not None else "",
        "incident": str(attempt / FOLDER) if incident is not None else None,
    }


def _messages(attempt: Path) -> list[dict[str, Any]]:
    from aifactory.channel import Progress, Reader

    return [
        {"seq": message.seq, "time": message.time, **message.payload.model_dump(mode="json")}
        for message in Reader(attempt).new()
        if not isinstance(message.payload, Progress)
    ]


def _show(facts: dict[str, Any]) -> None:
    from rich.text import Text

    out = console()
    out.print(Text.assemble((facts["run"], "bold"), f"   {facts['state']}"))
    context = facts["context"]
    commit = (context["commit"] or "no commit") + (" with uncommitted changes" if context["dirty"] else "")
    lines = {
        "kind": facts["kind"],
        "of": facts["about"] or facts["recipe"] or facts["target"],
        "spec": facts["hash"],
        "inputs": ", ".join(f"{one['key']}@{one['version'][:16]}" for one in facts["spec"]["inputs"]),
        "image": f"{facts['spec']['image']['name']} {facts['spec']['image']['digest'][:16]}",
        "cluster": context["cluster"],
        "commit": commit,
        "by": facts["requester"],
        "directory": facts["directory"],
    }
    for name, value in lines.items():
        out.print(Text(f"  {name:10} {value or '-'}"))
    for one in facts["tries"]:
        out.print(
            Text(
                f"  attempt {one['number']:<2} {one['outcome'] or 'running'}   {one['started']} - {one['ended'] or ''}"
            )
        )
        if one["error"]:
            out.print(Text(f"             {one['error']['type']}: {one['error']['text']}"))
        if one["state"]:
            since = f" since {one['state']['since']}" if one["state"]["since"] else ""
            out.print(Text(f"             {one['state']['phase']}{since}: {one['state']['text']}"))
        if one["fix"]:
            out.print(Text(f"             fix: {one['fix']}"))
        if one["incident"]:
            out.print(Text(f"             evidence {one['incident']}"))
        out.print(Text(f"             log {one['log']}"))
    for message in facts["messages"]:
        told = _told(message)
        if told:
            out.print(Text(f"  {told}"))


def _told(message: dict[str, Any]) -> str:
    if message["type"] == "checkpoint_saved":
        return f"checkpoint step {message['step']:<7} loss {message['loss']:.4f}   {message['path']}"
    if message["type"] == "scored":
        value = f"{message['value']:.4f} [{message['low']:.4f}, {message['high']:.4f}]"
        return f"score {message['key']} {message['metric']} {value} over {message['items']:,} items"
    if message["type"] == "stage_built":
        return f"snapshot {message['key']}@{message['version'][:16]} {message['outcome']}"
    if message["type"] == "audited" and not message["passed"]:
        return f"check {message['check']} failed: {message['reason']}"
    return ""
