"""What is told about a node of the lineage beyond its edges: read when it is shown, not when everything is gathered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.lineage.graph import Lineage, Node
from aifactory.launch.runs.summary import find_run, summary
from aifactory.namespace import Namespace, Publications

RESULTS = "results.json"


def describe(node: Node, lineage: Lineage, ns: Namespace) -> dict[str, Any]:
    """What the records say, and what stands on the disk now.

    `state`: of a snapshot "current", "older", "rolled back", "missing" (its directory is gone) or "unknown" (no journal
    that can be read has it); of a checkpoint "kept" or "missing"; of a run its outcome, or "missing". A snapshot that
    was made from nothing has its `files` with sha256 (64 digits); an evaluation its `scores`.
    """
    found = {name: value for name, value in lineage.about(node).items() if value not in (None, "", ())}
    if node.kind == "snapshot":
        return found | _snapshot(node, lineage, ns)
    if node.kind == "checkpoint":
        kept = [path for path in found.get("paths", ()) if ns.local(path).is_dir()]
        return found | {"state": "kept" if kept else "missing"}
    return found | _run(node, ns)


def _snapshot(node: Node, lineage: Lineage, ns: Namespace) -> dict[str, Any]:
    if not lineage.knows(node):
        return {"state": "unknown"}
    try:
        # Not by its name: that would read the journal, which was read already, once for each of its versions.
        manifest = Publications(ns, node.key).snapshot(node.version).manifest
    except FactoryError as error:
        return {"state": "missing", "problem": error.what}
    found: dict[str, Any] = {"kind": manifest.kind}
    if manifest.benchmark:
        found["benchmark"] = True
    if not lineage.links(node, "down"):
        found["files"] = [
            {"path": file.path, "bytes": file.bytes, "sha256": file.sha256, "rows": file.rows}
            for file in manifest.files
        ]
    return found


def _run(node: Node, ns: Namespace) -> dict[str, Any]:
    directory = find_run(ns, node.name)
    if directory is None:
        return {"state": "missing"}
    try:
        found: dict[str, Any] = {"state": summary(directory).state}
    except FactoryError as error:
        return {"state": "damaged", "problem": error.what}
    scores = _scores(directory / RESULTS)
    return found | ({"scores": scores} if scores else {})


def _scores(file: Any) -> list[Mapping[str, Any]]:
    try:
        suites = json.loads(file.read_bytes())["suites"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    names = ("key", "metric", "value", "low", "high", "items")
    return [{name: one[name] for name in names if name in one} for one in suites]
