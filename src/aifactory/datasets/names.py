"""Which global names a piece of code uses: its free names, with the attributes that are read from them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

type Use = tuple[str, str]
"""A name and the dotted attributes that are read from it ("" where the name itself is used)."""
type Import = tuple[int, str, str]
"""Level of dots, module, and attribute ("" for the module itself) of an import inside a function."""


class Scope:
    """One scope: the names that it reads, those that it binds, and what scopes inside of it leave free."""

    def __init__(self) -> None:
        self.loads: set[Use] = set()
        self.binds: set[str] = set()
        self.outer: set[str] = set()
        self.imports: set[Import] = set()

    def free(self) -> set[Use]:
        local = self.binds - self.outer
        return {use for use in self.loads if use[0] not in local} if local else self.loads

    def read(self, node: ast.AST) -> None:
        """Take in a node and everything under it."""
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Load:  # type: ignore[attr-defined]
                self.loads.add((node.id, ""))  # type: ignore[attr-defined]
            else:
                self.binds.add(node.id)  # type: ignore[attr-defined]
            return
        special = _SPECIAL.get(kind)
        if special is not None:
            special(self, node)
        elif kind not in _LEAVES:
            self.all(node)

    def all(self, node: ast.AST) -> None:
        """Take in everything under a node."""
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        self.read(item)
            elif isinstance(value, ast.AST):
                self.read(value)

    def take(self, inner: Scope, free: set[Use]) -> None:
        """Take in what a scope inside of this one leaves free."""
        self.loads |= free
        self.imports |= inner.imports

    def annotation(self, node: ast.expr | None) -> None:
        """Take in an annotation, also one in quotes."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return
        if node is not None:
            self.read(node)

    def _attribute(self, node: ast.Attribute) -> None:
        chain = [node.attr]
        value: ast.expr = node.value
        while isinstance(value, ast.Attribute):
            chain.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name):
            self.loads.add((value.id, ".".join(reversed(chain))))
        else:
            self.read(value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        inner = Scope()
        for argument in every:
            if argument is not None:
                inner.binds.add(argument.arg)
                self.annotation(argument.annotation)
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.read(default)
        if isinstance(node, ast.Lambda):
            inner.read(node.body)
        else:
            self.binds.add(node.name)
            self.annotation(node.returns)
            for decorator in node.decorator_list:
                self.read(decorator)
            for statement in node.body:
                inner.read(statement)
        self.take(inner, inner.free())

    def _class(self, node: ast.ClassDef) -> None:
        self.binds.add(node.name)
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.read(outside)
        inner = Scope()
        for statement in node.body:
            inner.read(statement)
        # Methods don't see the names that the class binds, so none of them is taken out.
        self.take(inner, inner.loads)

    def _comprehension(self, node: ast.AST) -> None:
        inner = Scope()
        inner.all(node)
        self.take(inner, inner.free())

    def _outer(self, node: ast.Global | ast.Nonlocal) -> None:
        self.outer.update(node.names)

    def _named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.binds.add(node.name)
        self.all(node)

    def _mapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.binds.add(node.rest)
        self.all(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.binds.add((alias.asname or alias.name).partition(".")[0])
            if isinstance(node, ast.Import):
                self.imports.add((0, alias.name, ""))
            else:
                self.imports.add((node.level, node.module or "", alias.name))


_LEAVES: frozenset[type] = frozenset(
    {ast.Constant, ast.Load, ast.Store, ast.Del}.union(
        *(base.__subclasses__() for base in (ast.operator, ast.cmpop, ast.unaryop, ast.boolop))
    )
)
_SPECIAL: dict[type, Callable[[Scope, Any], None]] = {
    ast.Attribute: Scope._attribute,
    ast.FunctionDef: Scope._function,
    ast.AsyncFunctionDef: Scope._function,
    ast.Lambda: Scope._function,
    ast.ClassDef: Scope._class,
    ast.ListComp: Scope._comprehension,
    ast.SetComp: Scope._comprehension,
    ast.DictComp: Scope._comprehension,
    ast.GeneratorExp: Scope._comprehension,
    ast.Import: Scope._import,
    ast.ImportFrom: Scope._import,
    ast.Global: Scope._outer,
    ast.Nonlocal: Scope._outer,
    ast.ExceptHandler: Scope._named,
    ast.MatchAs: Scope._named,
    ast.MatchStar: Scope._named,
    ast.MatchMapping: Scope._mapping,
}
