"""One publication: a journal record that makes a version current."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from aifactory.errors import FactoryError
from aifactory.store import Record


class Promoted(BaseModel):
    """Which checkpoint a version of a line is: its `digest`, canonical `path` and `step`, the hash of the `spec` that
    trained it. `origin` is the Dagster run and step that promoted it, empty for a terminal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    path: str
    step: int = Field(ge=0)
    spec: str = Field(pattern=r"^[0-9a-f]{64}$")
    origin: str = ""


class Draft(BaseModel):
    """What a publisher writes. `frozen` is the journal's number when its build started, `frozen_at` the time; `why` is
    a reason for people; `checkpoint` is what was promoted, for a line's versions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Literal["publish", "rollback"] = "publish"
    version: str = Field(pattern=r"^[0-9a-f]{64}$")
    frozen: int = Field(ge=0)
    frozen_at: AwareDatetime | None = None
    inputs: dict[str, str]
    code_version: str
    build_key: str
    commit: str
    image: str
    run: str
    why: str
    checks: tuple[str, ...]
    rows: int | None
    bytes: int
    checkpoint: Promoted | None = None

    def body(self, previous: str | None, left: Left | None = None) -> dict[str, Any]:
        """The journal record's body; `previous` is the version that was current, `left` what a fork leaves."""
        fields = set(Draft.model_fields) - (set() if self.checkpoint else {"checkpoint"})
        fork = {"left": left.model_dump(mode="json")} if left else {}
        return self.model_dump(mode="json", include=fields) | {"previous": previous} | fork

    @classmethod
    def again(cls, earlier: Publication, why: str, frozen: int | None = None) -> Draft:
        """A rollback to what `earlier` published: same version, same provenance, another reason."""
        fields = earlier.model_dump(include=set(Draft.model_fields))
        return Draft(**fields | {"action": "rollback", "why": why, "frozen": frozen or earlier.n, "frozen_at": None})


class Left(BaseModel):
    """What a fork left: publication `n` of `version` in the root at `root`, whose record has the digest `sha256` (by
    which it is found again, wherever that root is mounted by then)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: str
    n: int = Field(ge=1)
    version: str = Field(pattern=r"^[0-9a-f]{64}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Publication(Draft):
    """A draft that is in the journal: publication `n` of the key, time `at` (UTC, ISO 8601), `writer`, and the version
    before it. `left` stands in the first one of a fork, whose numbers go on from there. `sha256` is the
    digest of its record."""

    n: int
    at: str
    writer: str
    previous: str | None
    left: Left | None = Field(default=None, exclude_if=lambda left: left is None)
    sha256: str = Field(default="", exclude=True)

    @classmethod
    def of(cls, record: Record, n: int | None = None) -> Self:
        """The publication that a journal record holds, `n` (else the record's own number) in the key's history."""
        try:
            return cls(n=n or record.n, at=record.at, writer=record.writer, sha256=record.sha256, **record.body)
        except (ValidationError, TypeError) as error:
            raise FactoryError(
                f"journal record {record.n}, written by {record.writer} at {record.at}, is no publication",
                found=error.errors()[0] if isinstance(error, ValidationError) else error,
                expected="the fields of a publication",
                fix="update this checkout if a newer one wrote it; else restore the record from a backup",
                code="journal",
            ) from error


@dataclass(frozen=True)
class Published:
    """What became of a publish. `publication` is the record that stands for the key now:

    - "published": the own one, with another version than before;
    - "unchanged": the version was current already: the own record when the build key or the checks are new, else the
      one that was there;
    - "superseded": the one of the build that won, which is `other` too.
    """

    outcome: Literal["published", "unchanged", "superseded"]
    publication: Publication
    other: Publication | None = None
