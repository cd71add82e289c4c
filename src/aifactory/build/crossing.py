"""Builder of `crossing`: notes of the restricted zone, pseudonymized row by row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from aifactory.build.inputs import Work
from aifactory.build.made import Made
from aifactory.build.progress import counted
from aifactory.data.identifiers import Pseudonymizer
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.patterns import Presidio, versions
from aifactory.data.shards import write_shards
from aifactory.datasets.checks.crossing import ABOUT
from aifactory.datasets.crossed import Crossed
from aifactory.datasets.report import count, drop
from aifactory.datasets.schema import columns_of, of
from aifactory.datasets.zone import RESTRICTED, Zone
from aifactory.errors import FactoryError

SCHEMA = of(Crossed).arrow()
BATCH = 256


def outside(work: Work) -> dict[str, str]:
    """What the build reads outside of the namespace, for its build key: the zone's content and the key, by what tells
    nothing of them. Raises FactoryError: "class", "restricted_zone", "crossing_key", "package", "digest"."""
    if work.public:
        raise FactoryError(f"{work.build.key}: a crossing never writes to the public tree", code="class")
    zone = Zone.open(work.parameters)
    seen = zone.seen()
    _as_planned(work, seen)
    found = seen["fingerprint"]
    if work.parameters["digest"] not in (None, found):
        raise FactoryError(
            f"{work.build.key}: the restricted zone does not hold what is pinned",
            found=f"fingerprint {found}",
            expected=f"fingerprint {work.parameters['digest']}",
            fix="restore what was pinned; if what is there is right, change digest=",
            code="digest",
        )
    wanted, installed = work.parameters["recognizers"], versions()
    if any(wanted[name] not in (None, installed[name]) for name in wanted):
        raise FactoryError(
            f"{work.build.key}: other recognizers are installed than those that were planned",
            found=", ".join(f"{name} {version}" for name, version in installed.items()),
            expected=", ".join(f"{name} {version}" for name, version in wanted.items()),
            fix="plan it again",
            code="package",
        )
    return {"zone": found, "key": seen["key"]}


def _as_planned(work: Work, seen: Mapping[str, str]) -> None:
    """The key first: another one makes another fingerprint of the same content."""
    planned = work.parameters.get(RESTRICTED) or {}
    for name, what, code in (
        ("key", "the key of pseudonyms is not the one that was planned with", "crossing_key"),
        ("fingerprint", "the restricted zone does not hold what was planned", "restricted_zone"),
    ):
        if seen[name] != planned.get(name):
            raise FactoryError(
                f"{work.build.key}: {what}",
                found=f"{name} {seen[name]}",
                expected=f"{name} {planned.get(name, 'that the spec names, and it names none')}",
                fix="plan it again, or restore what was planned with",
                code=code,
            )


def build(work: Work, staging: Path) -> Made:
    """Rows stream; the patient table is in memory."""
    before = outside(work)
    zone = Zone.open(work.parameters)
    made = Made(columns=columns_of(SCHEMA), metadata={"key": before["key"], "zone": before["zone"][:16]})
    batches = counted(work.job, _batches(zone, work), f"building {work.build.key}")
    made.add(staging, write_shards(batches, staging, SCHEMA))
    if zone.fingerprint() != before["zone"]:
        raise FactoryError(
            f"{work.build.key}: the restricted zone changed while it was read",
            fix="build it again when nobody writes there",
            code="restricted_zone",
        )
    about = {**before, "recognizers": versions()}
    (staging / ABOUT).write_text(json.dumps(about, sort_keys=True) + "\n")
    return made


def _batches(zone: Zone, work: Work) -> Iterator[pa.RecordBatch]:
    table = zone.table()
    method = Pseudonymizer(zone.secret, table, Presidio(work.parameters["regions"]), Gazetteer.load())
    rows: list[dict[str, Any]] = []
    for note in zone.notes():
        if note.patient not in table.people:
            drop("patient not in the table")
            continue
        try:
            result = method.note(note.text, note.patient, note.on)
        except Exception as error:
            # Whatever it says may quote the note.
            raise FactoryError(
                f"{work.build.key}: row {note.row} of the notes could not be pseudonymized",
                found=type(error).__name__,
                fix="report the row's number to who keeps the method; its text is shown nowhere",
                code="crossing",
            ) from None
        for one in result.replaced:
            count(f"{one.kind} replaced")
        rows.append(
            {
                "note": zone.secret.pseudonym("note", note.note, 16),
                "patient": method.patient(note.patient),
                "date": method.day(note.patient, note.on),
                "text": result.text,
            }
        )
        if len(rows) == BATCH:
            yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
