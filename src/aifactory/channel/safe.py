"""What a message of a private run may say: numbers, and names that the code gives. Applied by who writes messages, and
again by who reads them, who trusts no writer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aifactory.channel.payloads import (
    Audited,
    CheckpointSaved,
    Closed,
    Note,
    Payload,
    Progress,
    Scored,
    StageBuilt,
    Started,
)
from aifactory.channel.redact import safe_failure
from aifactory.channel.words import is_word
from aifactory.namespace.access import PUBLIC
from aifactory.spec.place import access_of_run

WITHHELD = "withheld: private data, see the run's directory"
AT_WORK = "at work"
DIGESTS = frozenset({"key", "zone"})
METADATA = DIGESTS | {"counts", "dropped", "eod", "kept", "parts", "tokens", "vocabulary"}
"""What of a build's metadata may be shown of private data: numbers, by names of the code, and digests."""

_KEY = r"(public|private)(/[a-z][a-z0-9_]*)+"
_RUN = r"[a-z][a-z0-9-]{0,62}"
_FIGURE = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,60}}( {_KEY})?")
_HEX = re.compile(r"[0-9a-f]{1,64}")
_VERSION = re.compile(r"[\w.+:-]{1,80}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_]{1,200}")
_COLUMN = re.compile(r"[a-z][a-z0-9_]{0,30}([\[(][A-Za-z0-9_, =/+:-]{0,40}[\])])?")
_KEYS = re.compile(_KEY)
_CHECKPOINT = re.compile(rf"/factory/(public|private/[a-z][a-z0-9_]*)/runs/{_RUN}/checkpoints/step-\d{{8}}")
_RAISED = re.compile(r"the check raised [A-Za-z_][\w.]{0,200}( at [\w./+-]{1,200}\.py:\d{1,7} in [\w.<>]{1,200})?")
_NUMBER = r"-?[\d,.]+(e[+-]?\d+)?|nan|-?inf"
_SAID = re.compile(
    "|".join(
        (
            rf"(building|splitting|training) {_KEY}",
            rf"tokenizing (train|val|test) of {_KEY}",
            "loads torch and megatron",
            r"loads step \d+",
            rf"step \d+: loss ({_NUMBER}) \(unigram ({_NUMBER})\)",
            r"[a-z][a-z0-9_]{0,60}: \d+ of \d+ items",
            r"starts Ray with \d+ workers",
            r"trains on \d+ workers in \d+ pods",
            r"\d+ of \d+ workers are there",
            r"works in a worker pod",
            rf"begins with the weights of {_KEY}@[0-9a-f]{{16,64}}, step \d+",
            r"goes on from step \d+ of \d+ \(step-\d{8}\)",
            AT_WORK,
            re.escape(WITHHELD),
        )
    )
)
"""What the machinery says of its work in words."""


def may_show(run_directory: Path) -> bool:
    """Whether what the run prints may leave its directory: only where it stands under `public`."""
    return access_of_run(run_directory) == PUBLIC


def is_private(run_directory: Path) -> bool:
    """Whether messages of the run are made safe: it stands under a class that is not `public`. A directory that is no
    run's, of messages alone, is as whoever opens it says (`Reader`, `Writer`)."""
    return run_directory.parent.name == "runs" and access_of_run(run_directory) != PUBLIC


def safe(payload: Payload) -> Payload:
    """The payload of a private run without anything that may be a value of a row. Twice is as once."""
    match payload:
        case Started():
            kept = {"kind": _only(_FIGURE, payload.kind), "spec": _only(_HEX, payload.spec)}
            return payload.model_copy(update=kept)
        case Progress():
            unit = payload.unit if is_word(payload.unit) or payload.unit in ("items", "steps", "workers") else ""
            text = payload.text if _SAID.fullmatch(payload.text) else AT_WORK
            return payload.model_copy(update={"text": text, "unit": unit})
        case Note():
            return payload if _SAID.fullmatch(payload.text) else payload.model_copy(update={"text": WITHHELD})
        case StageBuilt():
            return _built(payload)
        case Audited():
            return safe_audit(payload)
        case CheckpointSaved():
            path, digest = _only(_CHECKPOINT, payload.path), _only(_HEX, payload.digest)
            return payload.model_copy(update={"path": path, "digest": digest, "metrics": _figures(payload.metrics)})
        case Scored():
            words = {name: _only(_FIGURE, getattr(payload, name)) for name in ("suite", "scorer", "metric")}
            return payload.model_copy(
                update={**words, "key": _only(_KEYS, payload.key), "extra": _figures(payload.extra)}
            )
        case Closed(error=error) if error is not None:
            return payload.model_copy(update={"error": safe_failure(error)})
        case Closed():
            return payload


def safe_audit(audit: Audited) -> Audited:
    """A check's result: its reason is made of its counts, or says which type was raised where."""
    counts, reason = safe_result(audit.counts, audit.reason)
    said = {"check": _only(_NAME, audit.check), "version": _only(_HEX, audit.version), "key": _only(_KEYS, audit.key)}
    return audit.model_copy(update={**said, "counts": counts, "reason": reason})


def safe_result(counts: Mapping[str, Any], reason: str) -> tuple[dict[str, Any], str]:
    """The counts and the reason of a check's result."""
    kept = _numbers(counts)
    words = ", ".join(f"{name} {value}" for name, value in kept.items()) or WITHHELD
    return kept, reason if not reason or _RAISED.fullmatch(reason) else words


def safe_columns(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Columns under names that stand in the code, the others by their place: a table's head may be its first row."""
    return [
        {
            "name": name if is_word(name := column.get("name")) else f"column {number}",
            "type": kind if _COLUMN.fullmatch(kind := str(column.get("type", "")).partition("<")[0]) else "",
            "nullable": bool(column.get("nullable", True)),
        }
        for number, column in enumerate(columns, 1)
    ]


def _built(built: StageBuilt) -> StageBuilt:
    inputs = {key: version for key, version in built.inputs.items() if _KEYS.fullmatch(key) and _HEX.fullmatch(version)}
    return built.model_copy(
        update={
            "key": _only(_KEYS, built.key),
            "version": _only(_HEX, built.version),
            "build_key": _only(_HEX, built.build_key),
            "code_version": _only(_VERSION, built.code_version),
            "inputs": inputs,
            "columns": safe_columns(built.columns),
            "metadata": _metadata(built.metadata),
            "previous": None if built.previous is None else _only(_HEX, built.previous),
        }
    )


def _metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in sorted(METADATA & values.keys()):
        value = values[name]
        if name in DIGESTS:
            if _HEX.fullmatch(str(value)):
                found[name] = value
        elif _is(value):
            found[name] = _numbers(value) if isinstance(value, Mapping) else value
    return found


def _is(value: object) -> bool:
    return isinstance(value, int | float | Mapping) and not isinstance(value, bool)


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers under names that are words of the code, in mappings too; the sum of all others as `other`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            if (inner := _numbers(value)) and is_word(name):
                found[name] = inner
        elif _is(value):
            if is_word(name):
                found[name] = value
            else:
                found["other"] = found.get("other", 0) + value
    return found


def _figures(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if _FIGURE.fullmatch(name)}


def _only(pattern: re.Pattern[str], text: str) -> str:
    return text if pattern.fullmatch(text) else ""
