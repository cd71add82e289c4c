"""The step of the job `promote`."""

from __future__ import annotations

import dagster as dg

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import is_line
from aifactory.launch.checkpoints.copying import every
from aifactory.launch.checkpoints.promote import promote as publish
from aifactory.launch.checkpoints.saved import find_checkpoint
from aifactory.launch.scope import Scope
from aifactory.namespace import Namespace, load_grants
from aifactory.namespace.identities import writer_of
from aifactory.namespace.names import PREFIX
from aifactory.orchestrate.keys import access_of, asset_key
from aifactory.orchestrate.origin import origin_of, requester
from aifactory.orchestrate.pipes import failure
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.sync import events
from aifactory.orchestrate.versions import Code
from aifactory.project import Project

SECONDS = 10.0
"""Between two lines about a copy."""


class PromoteConfig(dg.Config):
    """Which checkpoint its line is to stand for: its path as the checkpoint's event shows it, `<run>/<step>`, or 8
    digits or more of its digest. `why` stands in the line's journal, for who meets it later."""

    checkpoint: str
    why: str = ""


def promote(context: dg.OpExecutionContext, config: PromoteConfig) -> None:
    """Publish a checkpoint as its line's current snapshot and materialize the line. One that is it already changes
    nothing; what stood there before stays a version, which `aifactory rollback` brings back."""
    ns = Namespace.open()
    origin = origin_of(context.instance, context.run, context.op_def.name)
    try:
        place = config.checkpoint if is_line(config.checkpoint) else find_checkpoint(config.checkpoint, ns)
        Scope.current().require(place, f"the promotion of {place}")
        done = publish(
            place,
            ns=ns,
            writer=f"{writer_of(access_of(place.removeprefix(f'{PREFIX}/')))} for {requester(context.run)}",
            why=config.why,
            origin=origin.text,
            told=every(SECONDS, context.log.info),
            grants=load_grants(Project.current()),
        )
    except FactoryError as error:
        raise failure(error) from error
    line, publication = done.snapshot.key, done.published.publication
    if done.published.outcome == "superseded":
        raise failure(
            FactoryError(
                f"{line} was promoted by {publication.writer} while this ran",
                found=publication.version,
                expected=done.snapshot.version,
                fix="run this job again if its checkpoint is the one to stand there",
                code="superseded",
            )
        )
    asset = asset_key(line)
    if not any(value_of(event, "publication") == publication.n for event in materializations(context.instance, asset)):
        for event in events(ns, line, publication, Code()):
            if isinstance(event, dg.AssetMaterialization):  # a line has no checks
                context.log_event(event)
    context.add_output_metadata(
        {
            "line": str(line),
            "version": done.snapshot.version,
            "outcome": done.published.outcome,
            "checkpoint": done.checkpoint.path,
            "step": done.checkpoint.step,
        }
    )
