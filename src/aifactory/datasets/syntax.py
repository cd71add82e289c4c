"""One source file as its top-level definitions: the digest of each one's syntax tree, and what it uses."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from aifactory.datasets.names import Import, Scope, Use
from aifactory.datasets.tree import digest_of, documents, write
from aifactory.errors import FactoryError

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DECLARING = frozenset({"dataset", "check"})


@dataclass(frozen=True)
class Definition:
    """What makes a name: the digest of its statements, the global names that they use, and imports inside of them."""

    digest: str
    uses: frozenset[Use]
    imports: frozenset[Import]


@dataclass
class Source:
    """The top level of one file. `imports` maps a name to where it comes from, `stars` are modules of `import *`,
    `defined` are the names that statements make or change. `made` holds the definitions that were asked for."""

    path: str
    defined: frozenset[str] = frozenset()
    imports: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    made: dict[str, Definition] = field(default_factory=dict)
    statements: dict[str, list[ast.stmt]] | None = None

    def definition(self, name: str) -> Definition | None:
        """What makes `name` here; None for a name that is only imported, or unknown."""
        found = self.made.get(name)
        if found is None and name in self.defined:
            if self.statements is None:
                self.statements = parse(Path(self.path).read_bytes(), self.path).statements
            found = self.made[name] = _define((self.statements or {})[name])
        return found

    def names(self) -> list[str]:
        """Every name that is defined or imported at the top level."""
        return sorted({*self.defined, *self.imports})


_seen: dict[str, tuple[int, int, str, Source]] = {}
by_content: dict[str, Source] = {}
"""Sources by the sha256 of their text, as far as they are known from before."""


def source_of(path: str) -> Source:
    """The file's top level, read once as long as the file stays as it is."""
    status = os.stat(path)  # noqa: PTH116 - asked for every name that is followed
    seen = _seen.get(path)
    if seen is None or seen[0] != status.st_mtime_ns or seen[1] != status.st_size:
        text = Path(path).read_bytes()
        key = sha256(text).hexdigest()
        known = by_content.get(key)
        source = parse(text, path) if known is None else known
        source.path = path
        seen = _seen[path] = (status.st_mtime_ns, status.st_size, key, source)
    return seen[3]


def sources() -> dict[str, Source]:
    """Every source that was read by this process, by the sha256 of its text."""
    return {key: source for _, _, key, source in _seen.values()}


def parse(text: str | bytes, path: str = "<text>") -> Source:
    """The top level of a module's text."""
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        raise FactoryError(f"{path}:{error.lineno} can't be read", found=error.msg, code="import") from error
    source, statements = Source(path), dict[str, list[ast.stmt]]()
    for statement in tree.body:
        if isinstance(statement, _DEFINITIONS):
            statements.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            _imports(source, statement)
        elif not documents(statement):
            for name in _touched(source, statement):
                statements.setdefault(name, []).append(statement)
    source.statements, source.defined = statements, frozenset(statements)
    return source


def _touched(source: Source, statement: ast.stmt) -> set[str]:
    """The names that a statement binds; where it is more than an assignment, also those that it may change."""
    if isinstance(statement, ast.Assign) and all(type(target) is ast.Name for target in statement.targets):
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return {statement.target.id}
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _imports(source, node)
    scope = Scope()
    scope.read(statement)
    return scope.binds | {name for name, _ in scope.loads}


def _imports(source: Source, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            found = (node.level, node.module or "", alias.name)
            if alias.name == "*":
                source.stars.append(found)
            else:
                source.imports.setdefault(alias.asname or alias.name, []).append(found)
        elif alias.asname:
            source.imports.setdefault(alias.asname, []).append((0, alias.name, ""))
        else:
            top = alias.name.partition(".")[0]
            source.imports.setdefault(top, []).append((0, top, ""))


def _define(statements: list[ast.stmt]) -> Definition:
    scope = Scope()
    words: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            statement.decorator_list = [node for node in statement.decorator_list if not _declares(node)]
        scope.read(statement)
        write(statement, words)
    return Definition(digest_of(words), frozenset(scope.loads), frozenset(scope.imports))


def _declares(node: ast.expr) -> bool:
    """Whether a decorator only declares the stage: what stands in it changes no row."""
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _DECLARING
