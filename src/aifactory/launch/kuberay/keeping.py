"""The evidence of an attempt that ends badly, kept on the way to its teardown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aifactory.channel.payloads import Failure
from aifactory.launch.kuberay.evidence import collect
from aifactory.launch.kuberay.hub import Hub
from aifactory.launch.kuberay.look import Look
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.observe import Seen
from aifactory.launch.runs.incident import FOLDER
from aifactory.launch.runs.result import Outcome

WITHOUT: frozenset[Outcome] = frozenset({"succeeded", "cancelled", "refused"})
SECONDS = 30.0


def keep_evidence(
    look: Look, hub: Hub, names: Names, path: Path, outcome: Outcome, why: Failure | None, *, private: bool
) -> Iterator[str]:
    """Collect it, with a line that says so; nothing for an outcome that needs none."""
    if outcome in WITHOUT:
        return
    last = look.at(hub.view(names.job))
    incident = collect(
        hub.api,
        names,
        path,
        verdict(last, outcome, why),
        cluster=hub.cluster.name,
        private=private,
        former=tuple(look.former),
        seconds=SECONDS,
    )
    if incident is None:
        yield f"the evidence of attempt {names.attempt} could not be kept"
    else:
        missing = f"; {len(incident.missing)} more could not be had" if incident.missing else ""
        yield f"evidence of attempt {names.attempt}: {len(incident.files)} files in its {FOLDER}/{missing}"


def verdict(last: Seen, outcome: Outcome, why: Failure | None) -> Seen:
    """What was decided, and the state in which it was: an ending that the cluster shows is told in its words."""
    if last.outcome == outcome and (why is None or why.code == last.code):
        return last
    code = why.code if why is not None and why.code else "entrypoint" if outcome == "failed_code" else outcome
    said = why.text if why is not None else f"ended as {outcome}"
    if outcome == "failed_code":
        # What a driver raised quotes its data; it stands in the attempt's record.
        said = f"the driver raised {why.type}" if why is not None else "the driver failed"
    return Seen("ended", code, said, last.since, outcome, why, last.detail)
