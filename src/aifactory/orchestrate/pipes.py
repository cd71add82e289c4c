"""A launch inside a Pipes session of its Dagster step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dagster as dg

from aifactory.channel import Message, Progress
from aifactory.channel.logs import driver_log
from aifactory.errors import FactoryError
from aifactory.launch import GateRefused, Plan, Refusal, RunResult, attempt_name, launch
from aifactory.orchestrate.incidents import incident_metadata
from aifactory.orchestrate.interrupts import Interrupts
from aifactory.orchestrate.live import LiveLog, LiveProgress
from aifactory.orchestrate.tables import table

WHOLE = 2000
"""Characters of a cell of the refusals' table."""

type Context = dg.OpExecutionContext | dg.AssetExecutionContext


class SpecInjector(dg.PipesContextInjector):
    """Injects nothing: what a run needs to know travels as its frozen spec, whose hash it verifies."""

    @contextmanager
    def inject_context(self, context_data: Any) -> Iterator[dict[str, Any]]:
        yield {}

    def no_messages_debug_text(self) -> str:
        return "The run reads spec.json in its directory."


class ChannelReader(dg.PipesMessageReader):
    """Hands the messages of our channel to Dagster's handler. They are read by the launch, which checks for gaps.

    Dagster expects one opening and one end: the ends of attempts that were followed by another are held back.
    """

    expected_writer_count = 1  # rank 0 alone writes; the inherited property warns that it is a preview

    def __init__(self) -> None:
        self._handler: Any = None
        self._opened = False
        self._closed: Message | None = None

    @contextmanager
    def read_messages(self, handler: Any) -> Iterator[dict[str, Any]]:
        self._handler = handler
        try:
            yield {}
        finally:
            if self._closed is not None:
                handler.handle_message(self._closed.pipes)

    def feed(self, message: Message) -> None:
        if message.method == "closed":
            self._closed = message
        elif message.method != "opened" or not self._opened:
            self._opened = self._opened or message.method == "opened"
            self._handler.handle_message(message.pipes)

    def no_messages_debug_text(self) -> str:
        return "Expected messages of aifactory.run in attempts/<n>/messages of the run's directory."


def follow(
    context: Context,
    plan: Plan,
    *,
    run: str,
    on_message: Callable[[Message], None],
    tries: int = 1,
) -> RunResult:
    """Launch or adopt `run` and watch it to its end, with its words in the Dagster log as they come.

    `on_message` gets every message in order while the run goes on: results that had to wait for the session's end, as
    those of a Pipes client do, would come too late for whoever watches a training. Raises
    DagsterExecutionInterruptedError after a cancel, when everything of the run is dead, and after a detach, when it
    lives on; dg.Failure for a refusal.
    """
    reader = ChannelReader()
    log, progress = LiveLog(context.log.info), LiveProgress(context.log.info)

    def take(message: Message) -> None:
        reader.feed(message)
        if message.method == "report_custom_message" and isinstance(payload := message.payload, Progress):
            progress.feed(payload)
        on_message(message)

    with (
        Interrupts(context.instance, context.run.run_id) as interrupts,
        dg.open_pipes_session(context, SpecInjector(), reader),
    ):

        def stop() -> Any:
            log.tick()
            return interrupts.signal()

        try:
            result = launch(
                plan, run=run, on_message=take, on_log=log.feed, on_change=context.log.info, stop=stop, tries=tries
            )
        except FactoryError as error:
            raise failure(error) from error
        finally:
            log.close()
    if interrupts.interrupted and result.outcome in ("cancelled", "detached"):
        said = "was stopped, and nothing of it lives on" if result.outcome == "cancelled" else "lives on"
        context.log.warning(f"run {run} {said}")
        raise dg.DagsterExecutionInterruptedError()
    return result


def failure(error: FactoryError) -> dg.Failure:
    """The error as a failed step that is not worth a retry: it says what was found, what was expected, and the fix."""
    codes = [refusal.code for refusal in error.refusals] if isinstance(error, GateRefused) else [error.code]
    metadata: dict[str, Any] = {"code": ", ".join(codes)}
    if isinstance(error, GateRefused):
        metadata["refusals"] = dg.MetadataValue.md(refusals_table(error.refusals))
    if error.fix:
        metadata["fix"] = error.fix
    return dg.Failure(description=str(error), metadata=metadata, allow_retries=False)


def refusals_table(refusals: Sequence[Refusal]) -> str:
    """Every reason as a row; a digest or a command is never cut."""
    rows = [
        {"object": one.what, "found": one.found, "expected": one.expected, "fix": one.fix, "code": one.code}
        for one in refusals
    ]
    return table(rows, width=WHOLE)


def ended_badly(result: RunResult, what: str) -> dg.Failure:
    """Why a run that did not succeed failed its step."""
    attempt = result.directory / "attempts" / attempt_name(result.attempt)
    reason = f": {result.error.type}: {result.error.text}" if result.error is not None else ""
    metadata: dict[str, Any] = {
        "outcome": result.outcome,
        "run": result.run,
        "attempt": result.attempt,
        "directory": dg.MetadataValue.path(str(result.directory)),
        "log": dg.MetadataValue.path(str(driver_log(attempt))),
        **incident_metadata(result, attempt),
    }
    if result.error is not None and result.error.trace:
        metadata["trace"] = dg.MetadataValue.md(f"```\n{result.error.trace}\n```")
    return dg.Failure(description=f"{what} ended as {result.outcome}{reason}", metadata=metadata, allow_retries=False)
