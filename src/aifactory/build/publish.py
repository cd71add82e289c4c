"""From a sealed snapshot to a publication, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aifactory.build.describe import describe
from aifactory.build.inputs import Work
from aifactory.channel import PublishOutcome, StageBuilt
from aifactory.errors import FactoryError
from aifactory.namespace import Audit, Publication, Publications, Snapshot
from aifactory.namespace.identities import writer_of
from aifactory.store import Journal


@dataclass(frozen=True)
class Frozen:
    """What a build started from: the number of the key's journal when it was planned, and when the run began."""

    number: int
    at: datetime

    @classmethod
    def of(cls, work: Work) -> Frozen:
        """As the run's records say; the journal's number of now, where the context doesn't."""
        said = work.job.context.places.get("@journal")
        number = int(said) if said is not None else Publications(work.job.namespace, work.build.key).number()
        begun = Journal(work.job.directory / "attempts" / "@journal").records()[0]
        return cls(number, datetime.fromisoformat(begun.at))


def refuse_undoing(work: Work, earlier: Publication) -> None:
    """Automation does not bring back what somebody rolled back; a person does."""
    last = Publications(work.job.namespace, work.build.key).last()
    if last is None or last.action != "rollback" or last.version == earlier.version or last.n < earlier.n:
        return
    who = work.job.context.requester
    if who and not who.startswith("person"):
        raise FactoryError(
            f"{work.build.key} was rolled back to @{last.version[:16]} by {last.writer}: {last.why}",
            found=f"{who} asks for @{earlier.version[:16]} again",
            expected="a person who asks for it",
            fix="materialize it yourself if the reason no longer holds",
            code="rolled_back",
        )


def refuse_forking_again(work: Work, key: str) -> None:
    """Automation does not build again what a fork made that somebody dropped; a person does."""
    drop = Publications(work.job.namespace, work.build.key).dropped(key)
    who = work.job.context.requester
    if drop is not None and who and not who.startswith("person"):
        raise FactoryError(
            f"the fork of {work.build.key} that made this was dropped by {drop.writer}: {drop.body['why']}",
            found=f"{who} asks for the same build again",
            expected="a person who asks for it",
            fix="materialize it yourself if the reason no longer holds",
            code="rolled_back",
        )


def publish(
    work: Work,
    snapshot: Snapshot,
    key: str,
    audits: Mapping[str, Audit],
    *,
    frozen: Frozen,
    reused: Publication | None,
    metadata: Mapping[str, Any],
) -> None:
    """Publish and tell, or tell that it is red and raise FactoryError (code "red_checks") naming the checks."""
    build, job = work.build, work.job
    shown = {**describe(snapshot), **metadata}
    red = sorted(name for name, audit in audits.items() if audit.blocking and not audit.passed)
    if red:
        job.writer.send(_built(work, snapshot, key, "red", shown))
        raise FactoryError(
            f"{build.key}@{snapshot.version[:16]} is not published: {len(red)} blocking checks are red",
            found="; ".join(f"{name}: {audits[name].reason}" for name in red),
            expected=f"{', '.join(red)} green",
            fix="mend the stage or its input and materialize it again; what was current stays current",
            code="red_checks",
        )
    published = Publications(job.namespace, build.key).publish(
        snapshot.version,
        frozen.number,
        frozen_at=frozen.at,
        run=job.directory.name,
        writer=f"{writer_of(build.access)} for {job.context.requester or 'unknown'}",
        build_key=key,
        inputs={opened.ref.key: opened.ref.version for opened in work.inputs.values()},
        code_version=build.code_version,
        commit=job.context.commit or "",
        image=job.spec.image.digest,
        checks=sorted(check.name for check in build.checks if check.blocking),
        why=f"the same build as run {reused.run}" if reused else "",
        grants=job.context.grants,
    )
    outcome: PublishOutcome = published.outcome
    if reused and outcome != "superseded":
        outcome = "reused"
    record = published.publication
    job.writer.send(_built(work, snapshot, key, outcome, shown, publication=record.n, previous=record.previous))


def _built(
    work: Work, snapshot: Snapshot, key: str, outcome: PublishOutcome, metadata: Mapping[str, Any], **more: Any
) -> StageBuilt:
    manifest = snapshot.manifest
    return StageBuilt(
        key=work.build.key,
        version=snapshot.version,
        outcome=outcome,
        build_key=key,
        code_version=work.build.code_version,
        inputs={opened.ref.key: opened.ref.version for opened in work.inputs.values()},
        rows=manifest.rows,
        bytes=manifest.bytes,
        files=len(manifest.files),
        columns=[column.model_dump() for column in manifest.columns],
        metadata={name: value for name, value in metadata.items() if value not in (None, {}, [])},
        **more,
    )
