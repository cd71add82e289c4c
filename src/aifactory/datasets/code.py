"""The version of a stage's code: a digest of its definition and of everything in `assets/` and `checks/` it uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from aifactory.datasets.names import Import
from aifactory.datasets.syntax import Source, source_of
from aifactory.datasets.tree import digest_of
from aifactory.datasets.versions import TRANSFORMS

if TYPE_CHECKING:
    from aifactory.datasets.stage import Stage

OWN = ("assets", "checks")


def source_digest(stage: Stage) -> str:
    """Digest (64 hex) of the stage's code. A factory's is that of its version, set by hand."""
    if stage.function is None:
        return digest_of([stage.factory, str(stage.given_code_version)])
    walk = _Walk(stage.module, stage.file)
    function = stage.function
    if stage.name is not None:
        walk.name(stage.module, stage.name, "")
    code = getattr(function, "__code__", None)
    defined, _, _ = getattr(function, "__qualname__", "").partition(".")
    if code is not None and (function.__module__, defined) != (stage.module, stage.name):
        if walk.place(function.__module__) is None and function.__module__ == stage.module:
            walk.files[stage.module] = code.co_filename
        walk.name(function.__module__, defined, "")
    if stage.given_schema is not None and stage.row_schema is not None:
        walk.found["schema"] = digest_of([repr(column) for column in stage.row_schema.columns])
    return digest_of([f"{name} {digest}" for name, digest in sorted(walk.found.items())])


def function_digest(function: Callable[..., object]) -> str:
    """The same for a plain function at the top of its module."""
    walk = _Walk(function.__module__, function.__code__.co_filename)
    walk.name(function.__module__, function.__qualname__.partition(".")[0], "")
    return digest_of([f"{name} {digest}" for name, digest in sorted(walk.found.items())])


class _Walk:
    """Collects digests by qualified name, following names through the project's own modules."""

    def __init__(self, module: str, file: str):
        self.files = {module: file}
        self.root = _root(module, file)
        self.found: dict[str, str] = {}
        self.followed: set[tuple[str, str]] = set()
        self.sources: dict[str, Source] = {}

    def place(self, module: str) -> str | None:
        """The file of a module of the project; None for anybody else's."""
        if module in self.files:
            return self.files[module]
        if self.root is None or module.partition(".")[0] not in OWN:
            return None
        return _file(self.root, module)

    def source(self, path: str) -> Source:
        """The file's top level, looked up once for each stage."""
        found = self.sources.get(path)
        if found is None:
            found = self.sources[path] = source_of(path)
        return found

    def name(self, module: str, name: str, chain: str) -> None:
        """Follow `name` of `module`, of which the dotted attributes `chain` are read."""
        path = self.place(module)
        label = f"{module}:{name}"
        if path is None or label in self.found or (label, chain) in self.followed:
            return
        self.followed.add((label, chain))
        source = self.source(path)
        definition = source.definition(name)
        imported = source.imports.get(name, [])
        if definition is None and not imported:
            for level, target, _ in source.stars:
                self.name(_absolute(module, path, level, target), name, chain)
            return
        if definition is not None:
            self.found[label] = definition.digest
            for used, attributes in definition.uses:
                if used != name:
                    self.name(module, used, attributes)
            for item in definition.imports:
                self.imported(module, path, item, "")
        for item in imported:
            self.imported(module, path, item, chain)

    def imported(self, module: str, path: str, item: Import, chain: str) -> None:
        """Follow an import that `module` does."""
        level, target, attribute = item
        target = _absolute(module, path, level, target)
        rest = [*([attribute] if attribute else []), *(chain.split(".") if chain else [])]
        while rest and (self.place(f"{target}.{rest[0]}") is not None or f"{target}.{rest[0]}" in TRANSFORMS):
            target = f"{target}.{rest.pop(0)}"
        if target in TRANSFORMS:
            self.found[target] = f"version {TRANSFORMS[target]}"
        elif self.place(target) is None:
            # The attributes that are read from it stand in the tree of who reads them.
            self.found[f"{target}.{attribute}"] = "external"
        elif rest:
            self.name(target, rest[0], ".".join(rest[1:]))
        else:
            self.module(target)

    def module(self, module: str) -> None:
        """All of a module, where it is used as a whole."""
        path = self.place(module)
        label = f"{module}:*"
        if path is None or label in self.found:
            return
        source = self.source(path)
        self.found[label] = "module"
        for name in source.names():
            self.name(module, name, "")


def forget_files() -> None:
    """Look for the project's modules again: files may have come or gone."""
    _file.cache_clear()


def _absolute(module: str, path: str, level: int, target: str) -> str:
    if level == 0:
        return target
    package = module.split(".")
    if not path.endswith("__init__.py"):
        package = package[:-1]
    package = package[: len(package) - level + 1]
    return ".".join([*package, *([target] if target else [])])


@cache
def _file(root: str, module: str) -> str | None:
    base = Path(root, *module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return str(path)
    return None


def _root(module: str, file: str) -> str | None:
    if module.partition(".")[0] not in OWN:
        return None
    depth = module.count(".") + (1 if file.endswith("__init__.py") else 0)
    return str(Path(file).parents[depth])
