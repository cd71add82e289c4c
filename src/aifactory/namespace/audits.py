"""Audits: the recorded results of checks on one version, published or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from aifactory.namespace.identities import writer_of
from aifactory.namespace.keys import Key
from aifactory.namespace.snapshot import folder
from aifactory.store import Journal

if TYPE_CHECKING:
    from aifactory.namespace.namespace import Namespace


class Audit(BaseModel):
    """The result of one check: `counts` are numbers by name, `reason` says why it is red (no values of private data),
    `parameters` are the check's own, `run` is the run that asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: str = Field(min_length=1)
    passed: bool
    blocking: bool = True
    counts: dict[str, Any] = Field(default_factory=dict)
    reason: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    run: str = ""


@dataclass(frozen=True)
class Audited:
    """An audit with its place in the journal: record `n`, time `at` (UTC, ISO 8601)."""

    n: int
    at: str
    audit: Audit


class Audits:
    """The audits of `key@version`; `version` needs its first 16 digits."""

    def __init__(self, ns: Namespace, key: str, version: str):
        self.key = Key(key)
        self.version = version
        name = folder(version).removeprefix("@")
        self._journal, *self._lower = (Journal(one / "@audits" / name) for one in ns.directories(self.key))

    def add(self, *audits: Audit) -> None:
        """Records results, all of them in one record, in the first root."""
        if audits:
            body = {"audits": [audit.model_dump(mode="json") for audit in audits]}
            self._journal.append(body, writer=writer_of(self.key.access))

    def all(self) -> list[Audited]:
        """Every result in any root, oldest first."""
        records = [record for journal in (*self._lower, self._journal) for record in journal.records()]
        if self._lower:
            records.sort(key=lambda record: record.at)
        return [
            Audited(record.n, record.at, Audit.model_validate(audit))
            for record in records
            for audit in record.body["audits"]
        ]

    def latest(self) -> dict[str, Audit]:
        """The newest result of each check."""
        return {entry.audit.check: entry.audit for entry in self.all()}
