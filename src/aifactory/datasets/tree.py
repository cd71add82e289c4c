"""Digests of syntax trees: our own walk, docstrings and comments apart."""

from __future__ import annotations

import ast
from hashlib import sha256

_LEFT_OUT = frozenset({"ctx", "kind", "type_comment"})
_fields: dict[type, tuple[str, ...]] = {}


def tree_digest(text: str | bytes, path: str = "<text>") -> str:
    """Digest (64 hex) of a whole file's syntax tree."""
    words: list[str] = []
    write(ast.parse(text, path), words)
    return digest_of(words)


def digest_of(words: list[str]) -> str:
    """Digest (64 hex) of a list of words."""
    return sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def write(node: ast.AST, words: list[str]) -> None:
    """The tree as words: node types, then fields that are not empty, in order, then an end. Lines, contexts and
    docstrings are left out, and so is what a later Python may add as an empty field."""
    kind = type(node)
    append = words.append
    append(kind.__name__)
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(name for name in kind._fields if name not in _LEFT_OUT)
    for name in fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            append(name)
            write(value, words)
        elif type(value) is list:
            if not value:
                continue
            append(name)
            for item in value[1:] if name == "body" and documents(value[0]) else value:
                if isinstance(item, ast.AST):
                    write(item, words)
                else:
                    append(repr(item))
            append("]")
        elif value is not None or kind is ast.Constant:
            append(f"{name}={type(value).__name__}:{value!r}")
    append(")")


def documents(node: ast.AST) -> bool:
    """Whether a statement is a docstring (or another text that stands for itself)."""
    return type(node) is ast.Expr and type(node.value) is ast.Constant and type(node.value.value) is str
