"""Mix: what a training reads, and in which proportions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal, Protocol, Self, runtime_checkable

from pydantic import AfterValidator, Field, field_validator

from aifactory.errors import FactoryError
from aifactory.namespace import Key
from aifactory.spec.config import Config, Real, refuse

KeyText = Annotated[str, AfterValidator(lambda text: str(Key.parse(text)))]
Unit = Literal["sample", "token", "loss_token"]


@runtime_checkable
class Keyed(Protocol):
    """A declared stage, or anything else that stands for a key. The key may be bound after its module is imported."""

    @property
    def key(self) -> object: ...


def key_of(source: object, where: str) -> str:
    """The key that `source` (key text, or an object with `.key`) stands for; `where` names the reader in errors."""
    if isinstance(source, str):
        return str(Key.parse(source))
    if not isinstance(source, Keyed):
        raise FactoryError(
            f"{where}: this is neither a stage nor a key",
            found=f"{source!r} ({type(source).__name__})",
            expected="a stage of assets/, or key text such as public/icd10cm/ready",
            fix="name the stage, for example icd10cm.ready",
            code="config",
        )
    if source.key is None:
        raise FactoryError(
            f"{where}: the stage {source!r} has no key",
            expected="a stage that a module under assets/ binds to a name",
            fix="declare it at the top level of a file under assets/",
            code="unbound",
        )
    return str(Key.parse(str(source.key)))


class MixSource(Config):
    """One tokenized dataset (read from its train part) and its weight, relative to the other sources."""

    key: KeyText
    weight: Annotated[Real, Field(gt=0)] = 1.0


class Mix(Config):
    """Sources by weight; `unit` is what the weights count: samples, tokens, or tokens that carry loss."""

    sources: tuple[MixSource, ...]
    unit: Unit = "loss_token"

    @field_validator("sources", mode="after")
    @classmethod
    def _one_source(cls, sources: tuple[MixSource, ...]) -> tuple[MixSource, ...]:
        keys = [source.key for source in sources]
        if len(keys) != 1:
            raise refuse(
                "Mix: a mix of more than one source is not supported in this release" if keys else "Mix: no source",
                found=", ".join(keys) or "none",
                expected="exactly one source",
                fix="name one source in Mix.of",
            )
        return sources

    @classmethod
    def of(cls, sources: Mapping[object, float], *, unit: Unit = "loss_token") -> Self:
        """`Mix.of({icd10cm.ready: 1.0})`: stages or key text, each with its weight."""
        return cls(
            sources=tuple(MixSource(key=key_of(source, "Mix.of"), weight=weight) for source, weight in sources.items()),
            unit=unit,
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the sources, in order."""
        return tuple(source.key for source in self.sources)

    def resolved(self) -> Mix:
        """The same mix with weights as shares of 1, so that one meaning has one spelling."""
        total = math.fsum(source.weight for source in self.sources)
        return Mix(
            sources=tuple(MixSource(key=source.key, weight=source.weight / total) for source in self.sources),
            unit=self.unit,
        )
