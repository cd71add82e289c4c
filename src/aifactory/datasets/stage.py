"""A stage: the code behind one key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from aifactory.datasets import binding, shapes
from aifactory.datasets.checks.check import Check
from aifactory.datasets.origin import Origin
from aifactory.datasets.tree import digest_of
from aifactory.errors import FactoryError
from aifactory.namespace import Key
from aifactory.spec import ImageName, StageKind

if TYPE_CHECKING:
    from aifactory.datasets.schema import RowSchema

type Input = Stage | Part | str

KINDS: dict[str, StageKind] = {
    "source": "files",
    "crossing": "table",
    "split": "table",
    "tokenizer": "tokenizer",
    "tokenize": "tokens",
    "suite": "suite",
}


@dataclass(frozen=True)
class Part:
    """One part (train, val or test) of another stage, as an input."""

    stage: Stage
    name: str


@dataclass(frozen=True)
class Edge:
    """One input of a stage by its key. `role` is the parameter's name, `kind` what the input is to a run spec
    (`dataset` or `tokenizer`), `stage` the stage itself where it is known."""

    role: str
    key: str
    part: str | None
    kind: str
    stage: Stage | None


class Stage:
    """The code behind one key, callable in a test: `clean(path)` runs the function on what it is given.

    Made by `@dataset` and by the factories, never by hand. Its key follows from the module and the variable that hold
    it, so it is known once the module is imported; `key` is None for a stage outside `assets/`. Two stages are equal
    only if they are one object.
    """

    def __init__(
        self,
        *,
        factory: str,
        origin: Origin,
        function: Callable[..., Any] | None = None,
        inputs: Mapping[str, Input] | None = None,
        checks: tuple[Check, ...] = (),
        parameters: Mapping[str, Any] | None = None,
        benchmark: bool = False,
        owners: tuple[str, ...] = (),
        description: str = "",
        schema: object = None,
        code_version: str | None = None,
        automation: bool = True,
        image: ImageName = "data",
    ) -> None:
        self.factory, self.function = factory, function
        self.module, self.file, self.line, self.scope = origin.module, origin.file, origin.line, origin.scope
        self.given_inputs: dict[str, Input] = dict(inputs or {})
        self.given_checks = checks
        self.parameters: dict[str, Any] = dict(parameters or {})
        self.given_benchmark, self.given_owners, self.given_description = benchmark, owners, description
        self.given_schema, self.given_code_version, self.automation = schema, code_version, automation
        self.image: ImageName = image
        self.bound_name: str | None = None
        if self.module.startswith(binding.ROOT):
            _made.setdefault(self.module, []).append(self)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the stage makes of these arguments, outside the namespace: for tests and notebooks."""
        if self.function is not None:
            return self.function(*arguments, **named)
        from aifactory.datasets.direct import call

        return call(self, *arguments, **named)

    def __repr__(self) -> str:
        return f"<stage {self.label}>"

    @staticmethod
    def made_in(module: ModuleType) -> list[Stage]:
        """Every stage that the module's code made when it was imported, held by a variable or not."""
        return [stage for stage in _made.get(module.__name__, []) if stage.scope is vars(module)]

    def relink(self) -> None:
        """Forget what followed from the inputs, after one of them was found by its key."""
        for name in ("edges", "row_schema", "checks", "benchmark"):
            self.__dict__.pop(name, None)

    def part(self, name: str) -> Part:
        """One part of this stage (`train`, `val`, `test`), to be given in another's `inputs`."""
        return Part(self, name)

    @property
    def name(self) -> str | None:
        """The variable that holds this stage in its module; None while there is none."""
        return self.bound_name or binding.bind(self)

    @property
    def key(self) -> Key | None:
        """File path and variable name; None outside `assets/` and before the module holds it."""
        name = self.name
        return None if name is None else binding.key(self.module, name)

    @property
    def label(self) -> str:
        """How errors call this stage: its key, else its place in the source."""
        key = self.key
        return str(key) if key is not None else f"{self.factory} at {self.file}:{self.line}"

    @property
    def reference(self) -> str:
        """`module:name`, by which an image finds the stage again."""
        return f"{self.module}:{self.name}"

    @cached_property
    def kind(self) -> StageKind:
        """What its snapshots are: files, table, tokenizer, tokens or suite."""
        if self.function is not None:
            return "files" if shapes.returns_path(self.function) else "table"
        return KINDS[self.factory]

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Its inputs in the order of the parameters; an unknown one is an error that lists close matches."""
        return binding.edges(self)

    @property
    def inputs(self) -> dict[str, Stage | str]:
        """The stage (or the key of one that is not imported) behind each parameter."""
        return {edge.role: edge.stage or edge.key for edge in self.edges}

    @cached_property
    def row_schema(self) -> RowSchema | None:
        """The columns of its rows, where a row type or a schema says so; derived stages take their input's."""
        from aifactory.datasets.schema import of_stage

        return of_stage(self)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Every check of this stage: those of its kind, which are always on, then its own."""
        from aifactory.datasets.checks.defaults import all_checks

        return all_checks(self)

    @cached_property
    def benchmark(self) -> bool:
        """Whether its rows may never be trained on: said here or anywhere upstream."""
        return self.given_benchmark or any(edge.stage.benchmark for edge in self.edges if edge.stage is not None)

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """Who answers for it: said here, else those of the stages of its own file that it is made from."""
        for owner in self.given_owners:
            if "@" not in owner and not owner.startswith("team:"):
                raise FactoryError(
                    f"{self.label}: this is no owner",
                    found=owner,
                    expected="an e-mail address, or team:<name>",
                    fix=f"correct {self.file}:{self.line}",
                    code="owner",
                )
        inherited = [edge.stage.owners for edge in self.edges if edge.stage and edge.stage.module == self.module]
        return self.given_owners or tuple(dict.fromkeys(owner for owners in inherited for owner in owners))

    @cached_property
    def description(self) -> str:
        """What it is: its docstring, or what its factory makes of its inputs."""
        from aifactory.datasets.sentences import sentence

        return self.given_description or sentence(self)

    @cached_property
    def source_digest(self) -> str:
        """Digest (64 hex) of the code that makes it, whatever version was set by hand."""
        from aifactory.datasets.code import source_digest

        return source_digest(self)

    @cached_property
    def code_version(self) -> str:
        """What Dagster compares: set by hand in `@dataset`, else it moves with the code, the parameters, and with which
        stages are read."""
        if self.function is not None and self.given_code_version is not None:
            return self.given_code_version
        words = [f"{name}={value!r}" for name, value in sorted(self.parameters.items())]
        for edge in self.edges:
            given = self.given_inputs.get(edge.role)
            words.append(f"{edge.role} <- {edge.key} {given.name if isinstance(given, Part) else ''}")
        if self.function is None:
            return f"{self.given_code_version}+{digest_of(words)[:8]}"
        return digest_of([self.source_digest, *words])[:16]


_made: dict[str, list[Stage]] = {}
