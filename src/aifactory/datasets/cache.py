"""What was found in source files, kept on disk by their content, so that a reload reads only what changed."""

from __future__ import annotations

import json
import os
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from aifactory.datasets import names, syntax, tree
from aifactory.datasets.syntax import Definition, Source
from aifactory.project import Project


def load(project: Project) -> None:
    """Know again what an earlier process found. A missing or damaged file means that everything is read."""
    try:
        kept = json.loads(_place(project).read_bytes())
        found = {key: _source(entry) for key, entry in kept.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return
    syntax.by_content.update(found)


def save(project: Project) -> None:
    """Keep what this process found, if there is anything new; a state folder that can't be written is no error."""
    found = syntax.sources()
    if all(key in syntax.by_content and source.statements is None for key, source in found.items()):
        return
    place = _place(project)
    temporary = place.with_name(f".{place.name}-{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({key: _entry(source) for key, source in found.items()}))
        temporary.replace(place)
    except OSError:
        return
    syntax.by_content.update(found)


def _place(project: Project) -> Path:
    return project.state / "cache" / f"sources-{_reader()}.json"


@cache
def _reader() -> str:
    """Digest of the code that reads sources: another code may find something else in the same file."""
    texts = [Path(str(module.__file__)).read_bytes() for module in (names, syntax, tree)]
    return sha256(b"".join(texts)).hexdigest()[:16]


def _entry(source: Source) -> dict[str, Any]:
    return {
        "defined": sorted(source.defined),
        "imports": source.imports,
        "stars": source.stars,
        "made": {
            name: [made.digest, sorted(made.uses), sorted(made.imports)] for name, made in sorted(source.made.items())
        },
    }


def _source(entry: dict[str, Any]) -> Source:
    return Source(
        path="",
        defined=frozenset(entry["defined"]),
        imports={name: [_import(item) for item in items] for name, items in entry["imports"].items()},
        stars=[_import(item) for item in entry["stars"]],
        made={
            name: Definition(digest, frozenset((use, chain) for use, chain in uses), frozenset(map(_import, imports)))
            for name, (digest, uses, imports) in entry["made"].items()
        },
    )


def _import(item: list[Any]) -> tuple[int, str, str]:
    level, module, attribute = item
    return int(level), str(module), str(attribute)
