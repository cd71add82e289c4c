"""What a run can say: typed payloads, told apart by `type`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

PublishOutcome = Literal["published", "unchanged", "superseded", "reused", "red"]
ClosedOutcome = Literal["succeeded", "failed_code", "failed_infrastructure", "preempted", "cancelled"]
Level = Literal["debug", "info", "warning", "error"]


class Base(BaseModel):
    """Frozen; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Started(Base):
    """The first message of an attempt: the process is up and its spec is verified."""

    type: Literal["started"] = "started"
    kind: str
    spec: str
    pid: int


class Progress(Base):
    """How far a piece of work is; `total` is None where it is not known. Rate limited by the writer."""

    type: Literal["progress"] = "progress"
    text: str
    done: int | float = 0
    total: int | float | None = None
    unit: str = ""


class StageBuilt(Base):
    """A stage's snapshot: what it is, what made it, what became of it (`red`: a blocking check failed, not published).

    `metadata` is for people: preview rows (public data only) and a length histogram. `publication` is the number of
    the key's journal record, `previous` the version that stood before.
    """

    type: Literal["stage_built"] = "stage_built"
    key: str
    version: str
    outcome: PublishOutcome
    build_key: str
    code_version: str
    inputs: dict[str, str] = Field(default_factory=dict)
    rows: int | None = None
    bytes: int = 0
    files: int = 0
    columns: list[dict[str, Any]] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    publication: int | None = None
    previous: str | None = None


class Audited(Base):
    """The result of one check on one version."""

    type: Literal["audited"] = "audited"
    key: str
    version: str
    check: str
    passed: bool
    blocking: bool
    counts: dict[str, Any] = Field(default_factory=dict)
    reason: str = ""


class CheckpointSaved(Base):
    """A checkpoint that is whole on disk. `path` is canonical (`/factory/...`), `digest` that of checkpoint.json."""

    type: Literal["checkpoint_saved"] = "checkpoint_saved"
    step: int
    path: str
    digest: str
    loss: float
    metrics: dict[str, float] = Field(default_factory=dict)
    tokens: int = 0


class Scored(Base):
    """One metric of one suite with its confidence interval [`low`, `high`] over `items`."""

    type: Literal["scored"] = "scored"
    suite: str
    key: str
    scorer: str
    metric: str
    value: float
    low: float
    high: float
    items: int
    extra: dict[str, float] = Field(default_factory=dict)


class Note(Base):
    """A line for the person who watches."""

    type: Literal["note"] = "note"
    level: Level = "info"
    text: str


class Failure(Base):
    """Why an attempt failed: the exception's type, its text and its trace.

    Of a private run the text and the trace quote nothing (`aifactory.channel.redact`); `code` is that of an error of
    the machinery, `where` the place in the code, `rows` the numbers of the rows that were at hand, by input.
    """

    type: str
    text: str
    trace: str = ""
    code: str = ""
    where: str = ""
    rows: dict[str, int] = Field(default_factory=dict)


class Closed(Base):
    """The last message. `count` is the number of messages of the attempt, this one included."""

    type: Literal["closed"] = "closed"
    count: int
    outcome: ClosedOutcome
    error: Failure | None = None


Payload = Annotated[
    Started | Progress | StageBuilt | Audited | CheckpointSaved | Scored | Note | Closed, Field(discriminator="type")
]
PAYLOAD: TypeAdapter[Payload] = TypeAdapter(Payload)
