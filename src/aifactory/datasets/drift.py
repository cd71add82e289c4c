"""A version set by hand is a promise; this tells when the code moved under it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aifactory.namespace import Namespace
from aifactory.store import Store, digest

if TYPE_CHECKING:
    from aifactory.datasets.stage import Stage

FOLDER = "@sources"


def remember(ns: Namespace, stage: Stage) -> None:
    """Keep the digest of the code that the stage's version, set by hand, was first built with."""
    if stage.function is not None and stage.given_code_version is not None and stage.key is not None:
        body = {"code_version": stage.code_version, "source": stage.source_digest}
        if _kept(ns, stage) is None:
            Store(ns.directory(stage.key) / FOLDER).put(_name(stage), json.dumps(body, sort_keys=True).encode() + b"\n")


def moved(ns: Namespace, stage: Stage) -> str | None:
    """What to warn of, where the code is another than the one that was first built with this version; else None."""
    if stage.function is None or stage.given_code_version is None or stage.key is None:
        return None
    try:
        kept = _kept(ns, stage)
    except PermissionError:
        return None  # another identity builds it, and is warned
    first = json.loads(kept)["source"] if kept is not None else stage.source_digest
    if first == stage.source_digest:
        return None
    return (
        f"{stage.label}: the code moved, its code_version did not. Source {stage.source_digest[:16]}, but code_version "
        f"{stage.code_version!r} was first built with {first[:16]}. If the rows change, raise code_version in "
        f"{stage.file}:{stage.line}; until then what was built is used again"
    )


def _kept(ns: Namespace, stage: Stage) -> bytes | None:
    stores = (Store(directory / FOLDER) for directory in ns.directories(str(stage.key)))
    return next((kept for store in stores if (kept := store.read(_name(stage))) is not None), None)


def _name(stage: Stage) -> str:
    return digest(stage.code_version)[:16]
