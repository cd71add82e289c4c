"""One source file as its top-level definitions: the digest of each one's syntax tree, and what it uses."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from aifactory.datasets.names import Import, Scope, Use
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
    """The top level of one file. `imports` maps a name to where it comes from; `stars` are modules of `import *`."""

    statements: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    _definitions: dict[str, Definition | None] = field(default_factory=dict)

    def definition(self, name: str) -> Definition | None:
        """What makes `name` here; None for a name that is only imported, or unknown."""
        if name not in self._definitions:
            found = self.statements.get(name)
            self._definitions[name] = _define(found) if found else None
        return self._definitions[name]

    def names(self) -> list[str]:
        """Every name that is defined or imported at the top level."""
        return sorted({*self.statements, *self.imports})


_cache: dict[str, tuple[int, int, Source]] = {}


def source_of(path: str) -> Source:
    """The file's top level, parsed once as long as the file stays as it is."""
    status = Path(path).stat()
    cached = _cache.get(path)
    if cached is None or cached[:2] != (status.st_mtime_ns, status.st_size):
        cached = (status.st_mtime_ns, status.st_size, parse(Path(path).read_bytes(), path))
        _cache[path] = cached
    return cached[2]


def parse(text: str | bytes, path: str = "<text>") -> Source:
    """The top level of a module's text."""
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        raise FactoryError(f"{path}:{error.lineno} can't be read", found=error.msg, code="import") from error
    source = Source()
    for statement in tree.body:
        if isinstance(statement, _DEFINITIONS):
            source.statements.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            _imports(source, statement)
        elif isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
            for target in statement.targets:
                source.statements.setdefault(target.id, []).append(statement)  # type: ignore[attr-defined]
        elif not _documents(statement):
            _other(source, statement)
    return source


def _other(source: Source, statement: ast.stmt) -> None:
    """A statement that isn't one definition belongs to every name that it binds, changes or calls something of."""
    scope = Scope()
    scope.read(statement)
    touched = set(scope.binds)
    if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
        touched |= {name for name, _ in scope.loads}
    for name in touched:
        source.statements.setdefault(name, []).append(statement)
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _imports(source, node)


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
        _write(statement, words)
    return Definition(digest_of(words), frozenset(scope.loads), frozenset(scope.imports))


def _declares(node: ast.expr) -> bool:
    """Whether a decorator only declares the stage: what stands in it changes no row."""
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _DECLARING


def _documents(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def tree_digest(text: str | bytes, path: str = "<text>") -> str:
    """Digest (64 hex) of a whole file's syntax tree, docstrings and comments apart."""
    words: list[str] = []
    _write(ast.parse(text, path), words)
    return digest_of(words)


def digest_of(words: list[str]) -> str:
    """Digest (64 hex) of a list of words."""
    return sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def _write(node: ast.AST, words: list[str]) -> None:
    """The tree as words: node types, then fields that are not empty, in order. Lines, contexts and docstrings are
    left out, and so is what a later Python may add as an empty field."""
    kind = type(node)
    words.append(kind.__name__)
    for name in kind._fields:
        value = getattr(node, name, None)
        if (value is None and kind is not ast.Constant) or name in ("ctx", "kind", "type_comment"):
            continue
        if isinstance(value, ast.AST):
            words.append(name)
            _write(value, words)
        elif isinstance(value, list):
            if name == "body" and value and _documents(value[0]) and len(value) > 1:
                value = value[1:]
            elif name == "body" and value and _documents(value[0]):
                value = []
            if value:
                words.append(f"{name}[")
                for item in value:
                    if isinstance(item, ast.AST):
                        _write(item, words)
                    else:
                        words.append(repr(item))
                words.append("]")
        else:
            words.append(f"{name}={type(value).__name__}:{value!r}")
