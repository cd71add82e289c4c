"""Context: where, when, by whom and how a run happens. Recorded beside the spec, covered by no hash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from aifactory.errors import FactoryError
from aifactory.namespace import Grant
from aifactory.spec.config import Config, Flag, Json, Real, refuse
from aifactory.spec.input_ref import InputRef

NO_COMMIT = "NO COMMIT IS KNOWN: the code of this run cannot be found again in git"


class Context(Config):
    """`line` and `suites` are what a training's checkpoints belong to and are scored on; `root` is the namespace's
    place at the resolver (as AIFACTORY_ROOT has it: the read-only roots too); `places` maps roles of checkpoints to
    canonical paths; `config_schema` is the digest of the config types that the spec was resolved with; `allow` the
    codes of the gate's refusals that its requester overrode, for the reason `why`; `pins` what its requester took by
    hand instead of what is current; `grants` those in force when it was planned. `shape` names what its pods are
    given, `site` whose tree they mount, and `image_reference` is the OCI reference that they run: each as `cluster` had
    it when it was planned, None where it has none. `prefetch`: what it reads is read once before. Without a commit,
    `commit_note` says so and why."""

    recipe: str | None = None
    line: str | None = None
    suites: tuple[InputRef, ...] = ()
    baseline: str | None = None
    cluster: str = "local"
    queue: str | None = None
    priority: str | None = None
    shape: str | None = None
    site: str | None = None
    image_reference: str | None = None
    prefetch: Flag = False
    root: str = ""
    requester: str = ""
    parent_run: str | None = None
    origin: str | None = None
    commit: str | None = None
    commit_note: str = ""
    dirty: Flag = False
    dirty_digest: str | None = None
    config_schema: str = ""
    deadline_seconds: Annotated[Real, Field(gt=0)] | None = None
    stall_seconds: Annotated[Real, Field(gt=0)] | None = None
    places: dict[str, str] = Field(default_factory=dict)
    allow: tuple[str, ...] = ()
    why: str = ""
    pins: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _say_that_no_commit_is_known(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("commit") is None and not data.get("commit_note"):
            return {**data, "commit_note": NO_COMMIT}
        return data

    @model_validator(mode="after")
    def _dirty_is_named(self) -> Self:
        if self.dirty and self.dirty_digest is None:
            raise refuse(
                "Context: a dirty tree is recorded with the digest of its diff",
                found="dirty=True, dirty_digest=None",
                fix="take the facts from aifactory.spec.git_facts",
            )
        return self

    def resolution(self) -> Json:
        """What the journal of a frozen spec keeps of who resolved it and for what."""
        kept = {"recipe", "line", "suites", "baseline", "requester", "commit", "commit_note", "dirty", "dirty_digest"}
        # Only where there are any: specs that were resolved before there were pins keep their newest resolution.
        kept |= {"config_schema"} | ({"pins"} if self.pins else set())
        return {name: value for name, value in self.document().items() if name in kept}

    def to_bytes(self) -> bytes:
        """The file `context.json`."""
        return (json.dumps(self.document(), indent=2, sort_keys=True) + "\n").encode()

    @classmethod
    def load(cls, source: Path | bytes) -> Self:
        """Read `context.json`. Fields that this code doesn't know are passed over: a newer control plane writes the
        context of a run whose image is older, and nothing in it may decide a result."""
        try:
            record: dict[str, JsonValue] = json.loads(source.read_bytes() if isinstance(source, Path) else source)
            known = {name: value for name, value in record.items() if name in cls.model_fields}
        except (ValueError, AttributeError) as error:
            raise FactoryError(
                f"{source if isinstance(source, Path) else 'the context'}: this is no context",
                found=str(error),
                fix="launch the spec again",
                code="context",
            ) from error
        return cls.model_validate(known)
