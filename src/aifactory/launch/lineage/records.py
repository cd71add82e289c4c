"""The lineage that journals, manifests and specs tell; neither Dagster nor anything but the namespace is asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import checkpoint_digest
from aifactory.launch.checkpoints.saved import FILE, saved_in, step_of
from aifactory.launch.lineage.graph import Fact, Link, Node, Records
from aifactory.launch.runs.summary import runs_directories
from aifactory.namespace import Key, Namespace, Publication, Publications
from aifactory.spec import Context, InputRef, RunSpec

CACHED = 200_000
SPEC, CONTEXT = "spec.json", "context.json"
type Stamp = tuple[int, int]


def gather(ns: Namespace) -> Records:
    """Everything that this user may read. What is damaged is named and left out, and hides nothing else.

    Records never change, so those that this process has read before are not read again.
    """
    facts: list[Fact] = []
    damaged: list[str] = []
    built: set[str] = set()
    promoted: list[Publication] = []
    for key in ns.keys():  # noqa: SIM118  (a namespace is no mapping)
        try:
            publications = _publications(ns, key, _numbers(ns, key))
        except FactoryError as error:
            damaged.append(f"{key}: {error.what}")
            continue
        built.update(publication.run for publication in publications)
        facts += _snapshots(key, publications)
        promoted += [publication for publication in publications if publication.checkpoint is not None]
    for directory in runs_directories(ns):
        for run in sorted(directory.iterdir()):
            try:
                facts += _run(run, published=run.name in built)
                facts += _saved(ns, run, damaged)
            except FactoryError as error:
                damaged.append(f"{run.name}: {error.what}")
    known = {fact.node for fact in facts}
    # The run may be gone; what it read is in its line's journal too.
    facts += [fact for one in promoted if (fact := _trained(one)).node not in known]
    return Records.of(facts, _unreadable(ns), damaged)


def snapshot_node(key: str, version: str) -> Node:
    """The node of `key@version` (64 digits)."""
    return Node("snapshot", f"{key}@{version}")


def input_node(ref: InputRef) -> Node:
    """The node of an input: a checkpoint by its digest, everything else by key and version."""
    return Node("checkpoint", ref.version) if ref.kind == "checkpoint" else snapshot_node(ref.key, ref.version)


@lru_cache(maxsize=1_000)
def _publications(ns: Namespace, key: Key, numbers: tuple[int, ...]) -> tuple[Publication, ...]:
    """Those that decide come last; before them those of other roots, which they hide."""
    return tuple(Publications(ns, key).everywhere())


def _numbers(ns: Namespace, key: Key) -> tuple[int, ...]:
    journals = [directory / "@journal" for directory in ns.directories(key)]
    return tuple(sum(1 for _ in journal.iterdir()) if journal.is_dir() else 0 for journal in journals)


def _snapshots(key: Key, publications: Sequence[Publication]) -> Iterator[Fact]:
    for publication in publications:
        node = snapshot_node(key, publication.version)
        about = {
            "state": state(publication.version, publications),
            "publications": (publication.n,),
            "at": publication.at,
            "writer": publication.writer,
            "runs": (publication.run,) if publication.run else (),
            "commit": publication.commit,
            "rows": publication.rows,
            "bytes": publication.bytes,
            "why": publication.why,
        }
        made = publication.checkpoint
        if made is None:
            yield Fact(node, _read(publication), about)
            continue
        checkpoint = Node("checkpoint", made.digest)
        yield Fact(node, (Link(checkpoint, "promoted"),), {**about, "step": made.step})
        link = Link(Node("run", publication.run))
        yield Fact(checkpoint, (link,), {"step": made.step, "paths": (made.path,)})


def _trained(promoted: Publication) -> Fact:
    spec = promoted.checkpoint.spec if promoted.checkpoint else ""
    return Fact(Node("run", promoted.run), _read(promoted), {"kind": "train", "spec": spec})


def _read(publication: Publication) -> tuple[Link, ...]:
    return tuple(Link(snapshot_node(key, version)) for key, version in publication.inputs.items())


def state(version: str, publications: Sequence[Publication]) -> str:
    """Of a version in its key's journal: "current", "rolled back", or "older"."""
    if publications[-1].version == version:
        return "current"
    last = max(at for at, one in enumerate(publications) if one.version == version)
    left = (one for one in publications[last + 1 :] if one.previous == version)
    return "rolled back" if any(one.action == "rollback" for one in left) else "older"


def _run(run: Path, *, published: bool) -> list[Fact]:
    if not (run / CONTEXT).is_file():
        return []  # it is just being made, or was never launched
    spec, context, hash = _loaded(run, _stamp(run / SPEC), _stamp(run / CONTEXT))
    if spec.kind == "build" and published:
        return []  # the snapshots that it published say all of it
    node = Node("run", run.name)
    about = {"kind": spec.kind, "spec": hash, "recipe": context.recipe, "line": context.line}
    facts = [Fact(node, tuple(_link(spec, ref) for ref in spec.inputs), about)]
    if spec.kind == "build":
        facts[0] = Fact(node, facts[0].made_from, {**about, "key": spec.build.key})
    for ref in spec.inputs_of("checkpoint"):
        if place := context.places.get(ref.role):
            facts.append(_checkpoint(Node("checkpoint", ref.version), place))
    return facts


def _saved(ns: Namespace, run: Path, damaged: list[str]) -> Iterator[Fact]:
    for place in saved_in(run):
        try:
            digest, path = _digest(ns, place, _stamp(place / FILE))
        except FactoryError as error:
            damaged.append(f"{run.name}/{place.name}: {error.what}")
            continue
        yield _checkpoint(Node("checkpoint", digest), path)


def _link(spec: RunSpec, ref: InputRef) -> Link:
    part = f" ({ref.part})" if ref.part else ""
    return Link(input_node(ref), f"{ref.role}{part}")


def _checkpoint(node: Node, place: str) -> Fact:
    run = place.split("/runs/")[-1].split("/")[0]
    return Fact(node, (Link(Node("run", run)),), {"step": step_of(place), "paths": (place,)})


@lru_cache(maxsize=CACHED)
def _digest(ns: Namespace, place: Path, record: Stamp) -> tuple[str, str]:
    return checkpoint_digest(place), ns.canonical(place)


@lru_cache(maxsize=CACHED)
def _loaded(run: Path, spec: Stamp, context: Stamp) -> tuple[RunSpec, Context, str]:
    loaded = RunSpec.load(run / SPEC)
    return loaded, Context.load(run / CONTEXT), loaded.hash


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _unreadable(ns: Namespace) -> Iterator[str]:
    for private in (root / "private" for root in ns.roots):
        for project in sorted(private.iterdir()) if private.is_dir() else ():
            if project.is_dir() and not os.access(project, os.R_OK | os.X_OK):
                yield f"private/{project.name}"
