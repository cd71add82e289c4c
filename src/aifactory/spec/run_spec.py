"""RunSpec: the frozen record of everything that decides a result, and the hash that names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, PrivateAttr, Tag, field_validator, model_validator

from aifactory.errors import FactoryError
from aifactory.spec.build import Build
from aifactory.spec.config import Config, read_json, refuse
from aifactory.spec.evaluate import Evaluate
from aifactory.spec.fit import exactly_one, in_order, no_open_field, same_keys, started_from
from aifactory.spec.image_ref import ImageRef
from aifactory.spec.input_ref import InputKind, InputRef
from aifactory.spec.train import Train
from aifactory.store import canonical, digest

Kind = Literal["build", "train", "evaluate", "smoke"]
CONFIGS: dict[str, type[Build] | type[Train] | type[Evaluate]] = {
    "build": Build,
    "train": Train,
    "evaluate": Evaluate,
    "smoke": Train,
}
SCHEMA = 1

AnyConfig = Annotated[
    Annotated[Build, Tag("Build")] | Annotated[Train, Tag("Train")] | Annotated[Evaluate, Tag("Evaluate")],
    Discriminator(lambda value: type(value).__name__),
]


class RunSpec(Config):
    """What decides a result: kind, resolved config, inputs by version (sorted), image by digest. Where, when and by
    whom it runs is the Context, which no hash covers."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    kind: Kind
    config: AnyConfig
    inputs: tuple[InputRef, ...] = ()
    image: ImageRef

    _frozen: bytes | None = PrivateAttr(default=None)

    @property
    def hash(self) -> str:
        """sha256 of the RFC 8785 form of the identity. A spec that was loaded keeps the hash it was frozen with, also
        when this code would fill in a default that did not exist then."""
        return digest(self.identity())

    def identity(self) -> Any:
        """What the hash covers, as JSON values."""
        return read_json(self._frozen) if self._frozen is not None else self.document()

    def canonical(self) -> bytes:
        """RFC 8785 JSON of the identity."""
        return canonical(self.identity())

    def to_bytes(self) -> bytes:
        """The file `spec.json`: `{"hash": ..., "spec": identity}`, indented, keys sorted."""
        identity = read_json(self.canonical())
        return (json.dumps({"hash": self.hash, "spec": identity}, indent=2, sort_keys=True) + "\n").encode()

    @classmethod
    def load(cls, source: Path | bytes, hash: str | None = None) -> Self:
        """Read `spec.json` (a path or its bytes), recompute its hash, and compare it with the recorded one and with
        `hash`, where given.

        Raises FactoryError with code "edited" (naming both hashes), "unknown_schema", or "config".
        """
        name = str(source) if isinstance(source, Path) else "the spec"
        try:
            record = read_json(source.read_bytes() if isinstance(source, Path) else source)
            recorded, identity = record["hash"], record["spec"]
            actual = digest(identity)
        except FileNotFoundError as error:
            raise FactoryError(f"{name}: there is no such spec", fix="plan it again", code="no_spec") from error
        except (ValueError, KeyError, TypeError, FactoryError) as error:
            raise _edited(name, f"unreadable ({error})", hash or "a frozen spec") from error
        for expected in (recorded, hash):
            if expected is not None and expected != actual:
                raise _edited(name, actual, expected)
        version = identity.get("schema") if isinstance(identity, dict) else None
        if version != SCHEMA:
            raise FactoryError(
                f"{name}: a spec of a schema that this code cannot read",
                found=version,
                expected=SCHEMA,
                fix="use the code of the release that froze it",
                code="unknown_schema",
            )
        spec = cls.model_validate(identity)
        spec._frozen = canonical(identity)
        return spec

    def inputs_of(self, kind: InputKind) -> tuple[InputRef, ...]:
        """The inputs of one kind, in the spec's order."""
        return tuple(one for one in self.inputs if one.kind == kind)

    def input(self, role: str) -> InputRef:
        """The one input with this role; FactoryError with code "no_input" unless there is exactly one."""
        found = [one for one in self.inputs if one.role == role]
        if len(found) != 1:
            raise FactoryError(
                f"the spec has {len(found)} inputs with the role {role!r}",
                found=", ".join(one.role for one in self.inputs) or "none",
                expected=f"one input {role!r}",
                fix="plan it again",
                code="no_input",
            )
        return found[0]

    @property
    def train(self) -> Train:
        """The config of a training (or smoke) run."""
        if not isinstance(self.config, Train):
            raise refuse("this spec is no training", found=self.kind, expected="train")
        return self.config

    @property
    def build(self) -> Build:
        """The config of a build."""
        if not isinstance(self.config, Build):
            raise refuse("this spec is no build", found=self.kind, expected="build")
        return self.config

    @property
    def evaluate(self) -> Evaluate:
        """The config of an evaluation."""
        if not isinstance(self.config, Evaluate):
            raise refuse("this spec is no evaluation", found=self.kind, expected="evaluate")
        return self.config

    @model_validator(mode="before")
    @classmethod
    def _config_by_kind(cls, data: Any) -> Any:
        kind = data.get("kind") if isinstance(data, Mapping) else None
        if not isinstance(kind, str) or kind not in CONFIGS:
            return data
        expected, config = CONFIGS[kind], data.get("config")
        if isinstance(config, Mapping):
            return {**data, "config": expected.model_validate(config)}
        if isinstance(config, Config) and not isinstance(config, expected):
            raise refuse(
                f"RunSpec: a spec of kind {kind} has another config",
                found=type(config).__name__,
                expected=expected.__name__,
                fix="name the kind that belongs to the config",
            )
        return data

    @field_validator("inputs", mode="after")
    @classmethod
    def _sorted(cls, inputs: tuple[InputRef, ...]) -> tuple[InputRef, ...]:
        return in_order(inputs)

    @model_validator(mode="after")
    def _inputs_fit_the_config(self) -> Self:
        if isinstance(self.config, Train):
            no_open_field(self.config)
        if self.kind == "train":
            same_keys(self.inputs, "dataset", self.train.mix.keys, {"train"})
            exactly_one(self.inputs, "tokenizer")
            started_from(self.inputs, self.train)
        elif self.kind == "evaluate":
            same_keys(self.inputs, "suite", self.evaluate.suites, {"test", None})
            exactly_one(self.inputs, "checkpoint", "model")
        return self


def _edited(name: str, found: str, expected: str) -> FactoryError:
    return FactoryError(
        f"{name}: the spec was edited after it was frozen",
        found=found,
        expected=expected,
        fix="restore the file, or plan the change as a spec of its own",
        code="edited",
    )
