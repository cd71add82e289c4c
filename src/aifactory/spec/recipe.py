"""Recipe: a named function that returns a full config."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from aifactory.errors import FactoryError
from aifactory.namespace import Grant, Key, access
from aifactory.spec.mix import key_of
from aifactory.spec.overrides import as_changes
from aifactory.spec.train import Train


@dataclass(frozen=True, eq=False)
class Recipe:
    """A recipe: calling it gives its config. `line` is the model key that its checkpoints belong to."""

    function: Callable[[], Train]
    line: str
    scored_on: tuple[object, ...] = field(repr=False)
    compared_with: object = field(repr=False, default=None)

    @property
    def name(self) -> str:
        """The function's name: what `plan` and the job `train` call it by."""
        return self.function.__name__

    @property
    def module(self) -> str:
        """The module that defines it."""
        return self.function.__module__

    @property
    def description(self) -> str:
        """The function's docstring."""
        return (self.function.__doc__ or "").strip()

    @property
    def suites(self) -> tuple[str, ...]:
        """Keys of the suites that each checkpoint is scored on, sorted. Stages are asked for their key only now: a
        stage gets its name after the module that defines it was imported."""
        return tuple(sorted({key_of(suite, f"the suites of recipe {self.name}") for suite in self.scored_on}))

    @property
    def baseline(self) -> str | None:
        """The name of the recipe that runs of this one are compared with."""
        if self.compared_with is None or isinstance(self.compared_with, str):
            return self.compared_with
        if isinstance(self.compared_with, Recipe):
            return self.compared_with.name
        raise self._refuse(
            "its baseline is no recipe", found=repr(self.compared_with), expected="a recipe, or its name"
        )

    def __call__(self) -> Train:
        return self.build()

    def build(self, overrides: Iterable[str] | Mapping[str, object] = ()) -> Train:
        """The config with overrides applied. FactoryError with code "recipe" for anything that is no Train, and for
        an error in the function; one that has a code of its own keeps it."""
        config = self._call()
        if not isinstance(config, Train):
            raise self._refuse(
                "it returned something else than a Train",
                found=type(config).__name__,
                expected="Train",
                fix="return Train(...) or another recipe's config, evolved",
            )
        return config.evolve(as_changes(overrides))

    def validate(self, grants: Iterable[Grant] = ()) -> None:
        """Build the config and check the line, and that its class may hold what the mix, the suites and the start are
        of; FactoryError says what is wrong in which recipe."""
        line = self._line()
        config = self.build()
        first = [] if config.start is None else [config.start]
        read = {key: Key.parse(key).access for key in (*self.suites, *config.mix.keys, *first)}
        access.check(line.access, read, grants, output=f"the line {line} of recipe {self.name} ({self.module})")

    def _call(self) -> object:
        try:
            return self.function()
        except FactoryError as error:
            what = f"recipe {self.name} ({self.module}): {error.what}"
            raise FactoryError(
                what, found=error.found, expected=error.expected, fix=error.fix, code=error.code
            ) from error
        except Exception as error:
            raise self._refuse("it raised an error", found=f"{type(error).__name__}: {error}", fix="mend it") from error

    def _line(self) -> Key:
        try:
            line = Key.parse(self.line)
        except FactoryError as error:
            raise self._refuse("its line is no key", found=repr(self.line), expected=LINE, fix=error.fix) from error
        if not line.is_line:
            raise self._refuse("its line is no model key", found=self.line, expected=LINE, fix="correct the line")
        return line

    def _refuse(self, what: str, *, found: object = None, expected: object = None, fix: str = "") -> FactoryError:
        what = f"recipe {self.name} ({self.module}): {what}"
        return FactoryError(what, found=found, expected=expected, fix=fix, code="recipe")


LINE = "a key such as public/models/tiny"


def recipe(
    *, line: str, suites: Iterable[object] = (), baseline: object = None
) -> Callable[[Callable[[], Train]], Recipe]:
    """Declare a recipe: `@recipe(line="public/models/tiny", suites=[icd10cm.chapters])` over a function without
    parameters that returns a Train. `baseline` is the recipe that its runs are compared with."""

    def declare(function: Callable[[], Train]) -> Recipe:
        return Recipe(function=function, line=line, scored_on=tuple(suites), compared_with=baseline)

    return declare
