"""Promoting: one checkpoint becomes the current snapshot of its line, an input like any other."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import Trained, checkpoint_record, is_line, model_description, trained
from aifactory.launch.checkpoints.copying import Told, copy_hashed
from aifactory.launch.checkpoints.saved import FILE, FORMS
from aifactory.namespace import Grant, Key, Namespace, Promoted, Publications, Published, Snapshot, Staging, access
from aifactory.namespace.names import PREFIX
from aifactory.spec import load_frozen
from aifactory.store import canonical, digest, write_file, writing


@dataclass(frozen=True)
class Promotion:
    """The snapshot of the line, what became of its publication, and the checkpoint of the training `run`."""

    snapshot: Snapshot
    published: Published
    checkpoint: Promoted
    run: str


def promote(
    checkpoint: str,
    *,
    ns: Namespace,
    writer: str,
    why: str = "",
    origin: str = "",
    told: Told | None = None,
    grants: Sequence[Grant] = (),
) -> Promotion:
    """Copy the checkpoint (its path, `<run>/<step>` or its digest) into its line's key and publish it; `writer` and
    `why` are for people, `origin` names the Dagster run and step, if one did it. `told` hears of the copy.
    `grants` are those in force.

    The version is that of the files and of nothing else: which attempt saved them is left out, so promoting the same
    checkpoint twice gives one version, and the second time changes nothing while it is current. Raises FactoryError:
    "unknown_run", "unknown_checkpoint", "checkpoint" for what is none or was altered, "line" for one of another line,
    "integrity" for a file that is not what was saved (both digests are named), "rolled_back" when the line was rolled
    back meanwhile, "class", "disk_full".
    """
    if is_line(checkpoint):
        line = checkpoint.partition("@")[0]
        raise FactoryError(
            f"{checkpoint} is a line, not a checkpoint",
            expected=FORMS,
            fix=f"name the checkpoint; `aifactory rollback {line}` brings back what was promoted before",
            code="checkpoint",
        )
    found = trained(checkpoint, ns)
    place, line = ns.local(found.place), found.ref.key
    record = checkpoint_record(place)
    if record.get("spec") != found.spec.hash:
        raise FactoryError(
            f"{checkpoint} was saved by another spec than its run's",
            found=record.get("spec"),
            expected=found.spec.hash,
            fix="promote a checkpoint from the run that made it",
            code="checkpoint",
        )
    _of_its_line(found, ns)
    model_description(place)
    inputs = {ref.key: ref.version for ref in found.spec.inputs if ref.kind != "checkpoint"}
    read = {ref.key: Key(ref.key).access for ref in found.spec.inputs}
    access.check(
        Key(line).access,
        {**read, found.place: access.of_key(found.place.removeprefix(f"{PREFIX}/"))},
        grants,
        output=line,
    )
    publications = Publications(ns, line)
    frozen, build_key = publications.number(), digest({"checkpoint": record["digest"]})
    snapshot = _there(publications, build_key) or _copied(place, record, ns, line, inputs, told, grants)
    made = Promoted(digest=record["digest"], path=found.place, step=found.step, spec=found.spec.hash, origin=origin)
    published = publications.publish(
        snapshot.version,
        frozen,
        run=found.run,
        writer=writer,
        build_key=build_key,
        inputs=inputs,
        code_version=found.spec.image.digest,
        commit=found.context.commit or "",
        image=found.spec.image.digest,
        why=why,
        checkpoint=made,
        grants=grants,
    )
    return Promotion(snapshot, published, made, found.run)


def _of_its_line(found: Trained, ns: Namespace) -> None:
    """A context can be edited, and no hash covers it: the resolutions of the spec say what it was frozen for."""
    try:
        resolutions = load_frozen(ns, found.spec.hash).resolutions
    except FactoryError:
        return  # the frozen spec was swept; its copy in the run's directory has been verified
    lines = sorted({str(one.body["line"]) for one in resolutions if one.body.get("line")})
    if lines and found.ref.key not in lines:
        raise FactoryError(
            f"{found.place} is a checkpoint of another line than its run's context says",
            found=found.ref.key,
            expected=" or ".join(lines),
            fix=f"restore context.json of the run {found.run}, or train a recipe of the line {found.ref.key}",
            code="line",
        )


def _there(publications: Publications, build_key: str) -> Snapshot | None:
    """The snapshot of an earlier promotion of the same checkpoint, if every file of it is still what it was."""
    earlier = publications.for_build(build_key)
    try:
        snapshot = publications.snapshot(earlier.version) if earlier is not None else None
        if snapshot is not None:
            snapshot.verify()
    except FactoryError:
        return None  # sealing a new copy puts it in the place of the damaged one
    return snapshot


def _copied(
    place: Path,
    record: dict[str, Any],
    ns: Namespace,
    line: str,
    inputs: dict[str, str],
    told: Told | None,
    grants: Sequence[Grant],
) -> Snapshot:
    total, done = sum(entry["bytes"] for entry in record["files"]), 0

    def count(bytes: int) -> None:
        nonlocal done
        done += bytes
        if told is not None:
            told(done, total)

    with Staging.start(ns, line, f"promote-{uuid.uuid4().hex[:12]}", inputs=inputs, grants=grants) as staging:
        for entry in record["files"]:
            source = place / entry["path"]
            if Path(entry["path"]).name != entry["path"] or not source.is_file() or source.is_symlink():
                raise _changed(source, "no such file", f"{entry['bytes']} bytes")
            size, sha256 = copy_hashed(source, staging.path / entry["path"], count)
            if (size, sha256) != (entry["bytes"], entry["sha256"]):
                expected = f"sha256 {entry['sha256']}, {entry['bytes']} bytes"
                raise _changed(source, f"sha256 {sha256}, {size} bytes", expected)
        content = {name: value for name, value in record.items() if name != "digest"}
        with writing(staging.path):
            write_file(staging.path / FILE, canonical({"content": content, "attempt": 0, "digest": record["digest"]}))
        snapshot, _ = staging.seal(kind="model")
    # What landed is hashed again by the seal: a disk that wrote something else is seen here.
    landed = {file.path: (file.bytes, file.sha256) for file in snapshot.manifest.files}
    for entry in record["files"]:
        if landed[entry["path"]] != (entry["bytes"], entry["sha256"]):
            raise _changed(snapshot.path / entry["path"], f"sha256 {landed[entry['path']][1]}", entry["sha256"])
    return snapshot


def _changed(file: Path, found: str, expected: str) -> FactoryError:
    return FactoryError(
        f"{file} is not what was saved",
        found=found,
        expected=expected,
        fix="promote another checkpoint, or restore this one from a copy",
        code="integrity",
    )
