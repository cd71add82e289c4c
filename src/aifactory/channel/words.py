"""Which names are words of the code: a name that isn't may have been made of a row."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FOLDERS = ("assets", "checks")
PARTS = ("train", "val", "test")
KINDS = ("name", "id", "phone", "mail", "address", "date", "age")
"""Kinds of identifiers that a crossing replaces and counts."""

MACHINERY = frozenset(
    {"bytes", "columns", "distinct", "doc", "documents", "duplicates", "empty", "empty_files", "eod", "faults", "files"}
    | {"group", "groups", "kept", "largest", "loss_spans", "loss_tokens", "max", "min", "no loss tokens", "nulls"}
    | {"offset", "other", "out_of_range", "raised", "rows", "sha256", "shard", "shards", "texts", "tokens"}
    | {"vocabulary", *PARTS}
    | {f"{what}_{part}" for what in ("rows", "groups") for part in PARTS}
    | {f"shared_{one}_{other}" for one in PARTS for other in PARTS}
    | {"note", "notes", "patient", "text", "rows_with_survivors", "rows_of_nobody", "patient not in the table", *KINDS}
    | {"email_address", "iban_code", "credit_card", "known_recall", "other_recall", "precision"}
    | {f"{whose}_{kind}_{what}" for whose in ("known", "other") for kind in KINDS for what in ("recall", "marked")}
    | {name for kind in KINDS for name in (f"{kind}_precision", f"{kind} replaced")}
)
"""Names that the machinery gives to counts and columns."""


def is_word(name: object) -> bool:
    """Whether the name stands in the machinery's code, or in a file of `assets/` or `checks/` that this process has
    imported: as a string or as an identifier. What f-strings are put together from does not count."""
    if not isinstance(name, str) or not name:
        return False
    if name in MACHINERY:
        return True
    # Where it was found last comes first: a journal sync asks for the same columns again and again.
    modules = [name for name in list(sys.modules) if name.partition(".")[0] in FOLDERS]
    for module in [_found[name], *modules] if name in _found else modules:
        if name in _words_in(module):
            _found[name] = module
            return True
    return False


_found: dict[str, str] = {}


def _words_in(module: str) -> frozenset[str]:
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        status = Path(file or "").stat()
    except OSError:
        return frozenset()
    # With the size: two writes in one tick of the clock have one time.
    return words_of(file, (status.st_mtime_ns, status.st_size)) if file else frozenset()


@cache
def words_of(path: str, changed: tuple[int, int]) -> frozenset[str]:
    """The strings and identifiers of one Python file, as its time and size were then; none if it is no Python."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(_words(tree))


def _words(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.JoinedStr(values=values):
            # A piece of text around a value says nothing by itself, and would let its neighbour through.
            values = [one for one in values if not isinstance(one, ast.Constant)]
            for one in values:
                yield from _words(one)
            return
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name(id=text) | ast.arg(arg=text) | ast.Attribute(attr=text):
            yield text
        case ast.keyword(arg=str(text)):
            yield text
        case ast.FunctionDef(name=text) | ast.ClassDef(name=text):
            yield text
    for child in ast.iter_child_nodes(node):
        yield from _words(child)
