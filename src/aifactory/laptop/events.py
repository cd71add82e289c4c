"""What a Dagster run said, in the parts that the laptop's tools read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CAUSED = "The above exception was caused by the following exception:"
# The path of the exception's class that Dagster writes in front of its text.
RAISED = re.compile(r"^(?:\w+\.)+\w+: ")


@dataclass(frozen=True)
class Event:
    """One line of a Dagster run: `kind` is its GraphQL type; `asset`, `check`, `metadata` where the kind has them."""

    kind: str
    message: str
    at: float
    step: str | None = None
    asset: str | None = None
    check: str | None = None
    passed: bool | None = None
    error: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


def metadata_of(entries: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    values = ((entry["label"], [entry[name] for name in entry if name != "label"]) for entry in entries)
    return {label: found[0] for label, found in values if found}


def event_of(raw: Mapping[str, Any]) -> Event:
    evaluation = raw.get("evaluation") or {}
    key = raw.get("assetKey") or evaluation.get("assetKey")
    return Event(
        kind=raw["__typename"],
        message=raw.get("message", ""),
        at=float(raw.get("timestamp") or 0) / 1000,
        step=raw.get("stepKey"),
        asset="/".join(key["path"]) if key else None,
        check=evaluation.get("checkName"),
        passed=evaluation.get("success"),
        error=error_of(raw.get("error")),
        metadata=metadata_of(raw.get("metadataEntries") or ()),
    )


def error_of(error: Mapping[str, Any] | None) -> str | None:
    """What the innermost error says, without the path of its class; None for no error."""
    if error is None:
        return None
    chain = [error, *(link["error"] for link in error.get("errorChain") or ())]
    # The innermost error is the one that says what happened; the outer ones are Dagster's frames around it.
    # An error of the code server comes as one text, its causes and stacks after it.
    text = str(chain[-1]["message"]).rpartition(CAUSED)[2].partition("\nStack Trace:")[0]
    return RAISED.sub("", text.strip(), count=1)
