"""The audit of a crossing: what is left of known people, what looks like an identifier, and how well the method does.
They read the restricted zone, so they run where it may be read; what they tell is numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from aifactory.datasets.zone import Zone
    from aifactory.namespace import Snapshot

ABOUT = "crossing.json"
GOALS = {"known": 0.995, "other": 0.9, "precision": 0.95}
SURE = ("EMAIL_ADDRESS", "IBAN_CODE", "CREDIT_CARD")
READ = ("zone", "patients", "annotated", "columns", "identifiers", "regions")


def checks_of(parameters: Mapping[str, Any]) -> list[Check]:
    """`no_survivors` and `no_patterns` gate; `recognition`, where notes are annotated, is reported."""
    read = {name: parameters[name] for name in READ}
    found = [Check("no_survivors", "survivors", {"stage": read}), Check("no_patterns", "patterns")]
    if parameters["annotated"] is not None:
        found.append(Check("recognition", "recognition", {"stage": read, "goals": GOALS}, blocking=False))
    return found


def run_survivors(snapshot: Snapshot, stage: Mapping[str, Any]) -> CheckResult:
    """No identifier of a patient of the table is left in what would be published."""
    from aifactory.data.identifiers.survivors import Audit

    zone = _zone(snapshot, stage)
    people = zone.people()
    ids = {zone.secret.pseudonym("patient", person.id, 16): person.id for person in people}
    audit = Audit((person.id, dict(person.values), person.birth) for person in people)
    left: Counter[str] = Counter()
    rows = bad = unknown = 0
    for row in _rows(snapshot):
        rows += 1
        unknown += row["patient"] not in ids
        found = audit.count(row["text"], ids.get(row["patient"], ""), date.fromisoformat(row["date"]))
        left += found
        bad += bool(found)
    counts = {"rows": rows, "rows_with_survivors": bad, "rows_of_nobody": unknown, **{k: left[k] for k in sorted(left)}}
    kinds = ", ".join(f"{number} of kind {kind}" for kind, number in sorted(left.items()))
    reason = f"{bad} of {rows} rows hold identifiers of known patients: {kinds}" if bad else ""
    if unknown and not bad:
        reason = f"{unknown} of {rows} rows belong to nobody in the patient table"
    return CheckResult(not bad and not unknown, counts, reason or f"{rows} rows, nothing left of known patients")


def run_patterns(snapshot: Snapshot) -> CheckResult:
    """Nothing that looks like a mail address, an account or a card."""
    from aifactory.data.identifiers.patterns import Presidio

    kit = [one for one in Presidio().recognizers if set(one.supported_entities) & set(SURE)]
    rows, found = 0, Counter[str]()
    for row in _rows(snapshot):
        rows += 1
        for one in kit:
            entity = one.supported_entities[0]
            found[entity.lower()] += len(one.analyze(row["text"], [entity], None) or ())
    found = +found
    return CheckResult(not found, {"rows": rows, **found}, f"{sum(found.values())} in {rows} rows")


def run_recognition(snapshot: Snapshot, stage: Mapping[str, Any], goals: Mapping[str, float]) -> CheckResult:
    """Recall and precision on the annotated notes, by kind: identifiers that the patient table knows, and others."""
    from aifactory.data.identifiers import Pseudonymizer
    from aifactory.data.identifiers.gazetteer import Gazetteer
    from aifactory.data.identifiers.measure import Measure
    from aifactory.data.identifiers.patterns import Presidio

    zone = _zone(snapshot, stage)
    method = Pseudonymizer(zone.secret, zone.table(), Presidio(stage["regions"]), Gazetteer.load())
    measure, notes = Measure(), 0
    for note in zone.notes("annotated"):
        measure.add(note.text, note.marked, method.note(note.text, note.patient, note.on).replaced)
        notes += 1
    counts: dict[str, float] = {"notes": notes}
    for known, word in ((True, "known"), (False, "other")):
        counts[f"{word}_recall"] = round(measure.recall(known), 4)
        for kind in sorted(kind for kind, of in measure.marked if of == known):
            counts[f"{word}_{kind}_recall"] = round(measure.recall(known, kind), 4)
            counts[f"{word}_{kind}_marked"] = measure.marked[kind, known]
    counts["precision"] = round(measure.precision(), 4)
    counts |= {f"{kind}_precision": round(measure.precision(kind), 4) for kind in sorted(measure.replaced)}
    reached = {"known": measure.recall(True), "other": measure.recall(False), "precision": measure.precision()}
    missed = [f"{name} {reached[name]:.4f} of {goal}" for name, goal in goals.items() if reached[name] < goal]
    reason = "; ".join(missed) or ", ".join(f"{name} {value:.4f}" for name, value in reached.items())
    return CheckResult(not missed, counts, reason)  # type: ignore[arg-type]


def _zone(snapshot: Snapshot, stage: Mapping[str, Any]) -> Zone:
    from aifactory.datasets.zone import Zone

    zone = Zone.open(stage)
    made_with = json.loads((snapshot.path / ABOUT).read_bytes())["key"]
    if zone.secret.id != made_with:
        raise FactoryError(
            f"{snapshot.key} was made with another key of pseudonyms",
            found=zone.secret.id,
            expected=made_with,
            fix="check it with the key that it was made with, or make it again",
            code="crossing_key",
        )
    return zone


def _rows(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    from aifactory.data.shards import read_batches

    paths = [path for path in snapshot.paths() if path.suffix == ".parquet"]
    for batch in read_batches(paths, ["patient", "date", "text"]):
        yield from batch.to_pylist()
