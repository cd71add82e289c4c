"""Dagster's view of the journals: what they say and Dagster has not heard (rollbacks, builds from elsewhere)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg

from aifactory.channel.safe import safe_columns
from aifactory.errors import FactoryError
from aifactory.launch import resume
from aifactory.launch.scope import Scope
from aifactory.namespace import Key, Namespace, Publication, Publications
from aifactory.orchestrate.audits import recorded
from aifactory.orchestrate.automation import EVERYTHING
from aifactory.orchestrate.describe import column_schema, inputs_table, numbers
from aifactory.orchestrate.guard import in_words
from aifactory.orchestrate.interrupts import ENDED
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.runs import sync_runs
from aifactory.orchestrate.versions import Code

TICK_SECONDS = 20.0
"""How long one tick may take; what is left comes with the next."""
GRACE_SECONDS = 60.0
"""How long a publication waits for Dagster's retry of the run that made it and was killed before it could say so."""


def sync(
    instance: dg.DagsterInstance,
    ns: Namespace,
    cursor: str | None,
    *,
    scope: Scope = EVERYTHING,
    seconds: float = TICK_SECONDS,
) -> tuple[list[str], str]:
    """Report publications, checkpoints and scores that Dagster lacks; returns a line for each, and the new cursor
    (journal numbers by key, runs that are told). Only what `scope` holds is looked at.

    Only what is newer than all that Dagster holds of a key is reported, in the journal's order, so the last
    materialization is always the current version. A publication whose Dagster run goes on is that run's to report.
    Without a cursor (a lost database, a new one) every key is looked at. A journal that can't be read is named and
    passed over until it changes.
    """
    place = json.loads(cursor) if cursor else {}
    known: dict[str, int] = place.get("keys", {})
    done: set[str] = set(place.get("runs", ()))
    until = time.monotonic() + seconds
    said: list[str] = []
    code = Code()
    for key in ns.keys(scope.access):
        if time.monotonic() > until:
            break
        number = _number(ns, key)
        if known.get(str(key)) == number:
            continue
        try:
            if _sync_key(instance, ns, key, code, said):
                known[str(key)] = number
        except Exception as error:
            private = key.access != "public"
            if not private and not isinstance(error, FactoryError):
                raise
            said.append(f"{key}: {in_words(error, private=private)}")
            known[str(key)] = number
    said += sync_runs(instance, ns, done, scope=scope, until=until)
    told = {"keys": known, "runs": sorted(done)}
    return said, json.dumps({name: part for name, part in told.items() if part}, sort_keys=True)


def _number(ns: Namespace, key: Key) -> int:
    # Names only: most ticks find nothing new, and need not read and verify every record. Of all roots together, since
    # each journal only grows.
    return sum(_records(directory / "@journal") for directory in ns.directories(key))


def _records(journal: Path) -> int:
    return max((int(path.stem) for path in journal.glob("[0-9]*.json") if path.stem.isdigit()), default=0)


def _sync_key(instance: dg.DagsterInstance, ns: Namespace, key: Key, code: Code, said: list[str]) -> bool:
    """Report what is new of one key; whether all is told."""
    told = [one for event in materializations(instance, asset_key(key)) if (one := _told(event))]
    for publication in _untold(Publications(ns, key).all(), told):
        if _is_pending(instance, ns, publication):
            return False
        for event in events(ns, key, publication, code):
            instance.report_runless_asset_event(event)
        said.append(f"{key}@{publication.version[:16]}: {publication.action} {publication.n} by {publication.writer}")
    return True


def _untold(records: Sequence[Publication], told: Sequence[tuple[int, str]]) -> list[Publication]:
    """What is newer than all that was told (numbers with versions, the last one told first). Where nothing is, and
    Dagster was told last of something else than what is current (a fork that was dropped), the current one again."""
    version = {one.n: one.version for one in records}
    held = max((n for n, said in told if version.get(n) == said), default=0)
    newer = [one for one in records if one.n > held]
    return newer or [one for one in records[-1:] if (one.n, one.version) != told[0]]


def _told(event: dg.AssetMaterialization) -> tuple[int, str] | None:
    number, version = value_of(event, "publication"), (event.tags or {}).get("dagster/data_version")
    return (number, version) if isinstance(number, int) and version else None


def _is_pending(instance: dg.DagsterInstance, ns: Namespace, publication: Publication) -> bool:
    """Whether a Dagster run made it that will still say so."""
    origin = _origin(ns, publication)
    run = instance.get_run_by_id(origin.partition("/")[0]) if origin else None
    if run is None:
        return False
    if run.status not in ENDED:
        return True
    age = (datetime.now(UTC) - datetime.fromisoformat(publication.at)).total_seconds()
    return run.status == dg.DagsterRunStatus.FAILURE and age < GRACE_SECONDS


def _origin(ns: Namespace, publication: Publication) -> str | None:
    """The Dagster run and step that published: those of a build's run, or of who promoted a checkpoint."""
    if publication.action != "publish" or not publication.run:
        return None
    if publication.checkpoint is not None:
        return publication.checkpoint.origin  # `run` is the training, which may be over or go on
    try:
        plan = resume(publication.run, ns=ns)
    except FactoryError:
        return None
    return None if plan is None else plan.context.origin


def events(
    ns: Namespace, key: Key, publication: Publication, code: Code
) -> list[dg.AssetMaterialization | dg.AssetCheckEvaluation]:
    """The materialization, and after it its checks: downstream automation asks for checks that are newer than it."""
    asset = asset_key(key)
    checks = [
        dg.AssetCheckEvaluation(
            asset_key=asset,
            check_name=name,
            passed=audit.passed,
            blocking=audit.blocking,
            severity=dg.AssetCheckSeverity.ERROR if audit.blocking else dg.AssetCheckSeverity.WARN,
            description=audit.reason or None,
            metadata={
                "version": publication.version,
                **{f"count: {count}": value for count, value in numbers(audit.counts).items()},
            },
        )
        for name, audit in sorted(recorded(ns, key, publication.version).items())
    ]
    made = publication.checkpoint
    materialization = dg.AssetMaterialization(
        asset_key=asset,
        description=(f"step {made.step:,} of {publication.run}: " if made else "")
        + f"{publication.action} {publication.n} by {publication.writer}"
        + (f": {publication.why}" if publication.why else ""),
        metadata=_metadata(ns, key, publication),
        tags=_tags(publication.version, code.version(key, publication), publication.inputs),
    )
    return [materialization, *checks]


def _metadata(ns: Namespace, key: Key, publication: Publication) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "class": key.access,
        "version": publication.version,
        "outcome": "rolled back" if publication.action == "rollback" else "published",
        "publication": publication.n,
        "build_key": publication.build_key,
        "code_version": publication.code_version,
        "bytes": publication.bytes,
        "run": publication.run,
        "writer": publication.writer,
    }
    if publication.rows is not None:
        shown["dagster/row_count"] = publication.rows
    if publication.inputs:
        shown["inputs"] = inputs_table(publication.inputs)
    if publication.previous:
        shown["previous"] = publication.previous
    if publication.left:
        shown["fork of"] = f"publication {publication.left.n} of {publication.left.root}"
    if publication.why:
        shown["why"] = publication.why
    if publication.checkpoint is not None:
        made = publication.checkpoint
        shown |= {"step": made.step, "checkpoint": made.path, "digest": made.digest, "spec": made.spec}
    try:
        columns = ns.resolve(key, publication.version).manifest.columns
    except FactoryError:
        return shown  # its files are gone; what the journal says of it stays true
    if columns:
        described = [column.model_dump() for column in columns]
        shown["dagster/column_schema"] = column_schema(described if key.access == "public" else safe_columns(described))
    return shown


def _tags(version: str, code_version: str, inputs: Mapping[str, str]) -> dict[str, str]:
    """What Dagster itself puts on a materialization, so that staleness is computed from it alike."""
    tags = {
        "dagster/data_version": version,
        "dagster/data_version_is_user_provided": "true",
        "dagster/code_version": code_version,
    }
    return tags | {f"dagster/input_data_version/{key}": value for key, value in inputs.items()}
