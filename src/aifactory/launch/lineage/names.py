"""What a person names, as nodes of the lineage."""

from __future__ import annotations

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.saved import DIGEST, OF_RUN, find_checkpoint, names_checkpoint, step_of
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.lineage.graph import Lineage, Node
from aifactory.launch.lineage.records import snapshot_node
from aifactory.launch.runs.names import RUN_NAME
from aifactory.namespace import Key, Namespace, Publications, decide

FORMS = "a key, `key@version`, a run, a checkpoint (`<run>/<step>`, its path or its digest)"


def find_nodes(text: str, lineage: Lineage, ns: Namespace, *, every: bool = False) -> list[Node]:
    """The nodes that `text` names: one, but for a build that published several times, two things of one digest, and
    every version of a key with `every`.

    A key stands for its current version. Raises FactoryError: "unpublished", "version", "unknown_run",
    "unknown_checkpoint", "unknown_target" with what there is of the kind.
    """
    if names_checkpoint(text):
        return [_checkpoint(text.rstrip("/"), lineage, ns)]
    if text.startswith(("public/", "private/", "/")):
        return _snapshots(*ns.named(text), ns, every)
    if found := _run(text, lineage):
        return found
    if DIGEST.fullmatch(text) and (found := _digest(text, lineage)):
        return found
    raise _unknown(text, lineage)


def _snapshots(key: Key, version: str | None, ns: Namespace, every: bool) -> list[Node]:
    records = Publications(ns, key).everywhere()
    if not records:
        if key.is_line:
            raise FactoryError(
                f"nothing was promoted to {key}",
                found="no publication",
                expected="a version of the line, or one of its checkpoints",
                fix="`aifactory promote <checkpoint>`, or name a checkpoint: <run>/<step>",
                code="unpublished",
            )
        ns.resolve(key)  # says which keys are like it
    if version is not None:
        return [snapshot_node(key, decide.find(key, version, records))]
    versions = dict.fromkeys(record.version for record in reversed(records))
    return [snapshot_node(key, one) for one in versions][: None if every else 1]


def _checkpoint(text: str, lineage: Lineage, ns: Namespace) -> Node:
    """By the records: one whose files are gone is still known to those that read it."""
    of_run = OF_RUN.fullmatch(text)
    ending = f"/{of_run[1]}/checkpoints/step-{int(of_run[2]):08d}" if of_run else find_checkpoint(text, ns)
    for node in lineage.nodes:
        if node.kind == "checkpoint" and any(path.endswith(ending) for path in lineage.about(node).get("paths", ())):
            return node
    place = find_checkpoint(text, ns)  # says what is wrong with the run or the step
    raise FactoryError(
        f"{place} is no whole checkpoint, and nothing was made of it",
        found=f"step {step_of(place)}",
        expected="a checkpoint with its checkpoint.json",
        fix="`aifactory runs <run>` lists a run's checkpoints",
        code="unknown_checkpoint",
    )


def _run(text: str, lineage: Lineage) -> list[Node]:
    node = Node("run", text)
    if lineage.knows(node):
        return [node]
    if not RUN_NAME.fullmatch(text):
        return []
    # A build stands for what it published.
    return [one for one in lineage.nodes if one.kind == "snapshot" and text in lineage.about(one).get("runs", ())]


def _digest(digits: str, lineage: Lineage) -> list[Node]:
    return [
        node
        for node in lineage.nodes
        if node.kind != "run" and (node.version or node.name).startswith(digits) and lineage.knows(node)
    ]


def _unknown(text: str, lineage: Lineage) -> FactoryError:
    runs = [node.name for node in lineage.nodes if node.kind == "run"]
    keys = [node.key for node in lineage.nodes if node.kind == "snapshot"]
    return FactoryError(
        f"nothing here is called {text!r}",
        found=text,
        expected=f"{FORMS}; close ones: {close_matches(text, sorted({*runs, *keys}))}"[:400],
        fix="`aifactory runs` lists the runs, `aifactory versions <key>` the versions of a key",
        code="unknown_target",
    )
