"""Promoting: one checkpoint becomes the current snapshot of its line, an input like any other."""

from __future__ import annotations

import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.checkpoint import FILE, checkpoint_record, is_line, model_description, trained
from aifactory.namespace import Namespace, Promoted, Publications, Published, Snapshot, Staging
from aifactory.store import canonical, digest, hash_file, write_file, writing


@dataclass(frozen=True)
class Promotion:
    """The snapshot of the line, and what became of its publication."""

    snapshot: Snapshot
    published: Published
    checkpoint: Promoted


def promote(checkpoint: str, *, ns: Namespace, writer: str, why: str = "", origin: str = "") -> Promotion:
    """Copy the checkpoint (its path) into its line's key and publish it; `writer` and `why` are for people, `origin`
    names the Dagster run and step, if one did it.

    The version is that of the files and of nothing else: which attempt saved them is left out, so promoting the same
    checkpoint twice gives one version, and the second time changes nothing while it is current. Raises FactoryError:
    "checkpoint" for what is none or was altered, "integrity" for a file that is not what was saved (both digests are
    named), "rolled_back" when the line was rolled back meanwhile, "class", "disk_full".
    """
    if is_line(checkpoint):
        line = checkpoint.partition("@")[0]
        raise FactoryError(
            f"{checkpoint} is a line, not a checkpoint",
            expected="/factory/<class>/runs/<run>/checkpoints/step-<8 digits>",
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
    _verify(place, record)
    model_description(place)
    publications = Publications(ns, line)
    frozen = publications.number()
    inputs = {ref.key: ref.version for ref in found.spec.inputs if ref.kind != "checkpoint"}
    with Staging.start(ns, line, f"promote-{uuid.uuid4().hex[:12]}", inputs=inputs) as staging:
        _copy(place, record, staging.path)
        # The files may have changed between the look and the copy.
        _verify(staging.path, record)
        snapshot, _ = staging.seal(kind="model")
    made = Promoted(digest=record["digest"], path=found.place, step=found.step, spec=found.spec.hash, origin=origin)
    published = publications.publish(
        snapshot.version,
        frozen,
        run=found.run,
        writer=writer,
        build_key=digest({"checkpoint": made.digest}),
        inputs=inputs,
        code_version=found.spec.image.digest,
        commit=found.context.commit or "",
        image=found.spec.image.digest,
        why=why,
        checkpoint=made,
    )
    return Promotion(snapshot, published, made)


def _copy(place: Path, record: dict[str, Any], target: Path) -> None:
    with writing(target):
        for entry in record["files"]:
            shutil.copyfile(place / entry["path"], target / entry["path"])
        content = {name: value for name, value in record.items() if name != "digest"}
        write_file(target / FILE, canonical({"content": content, "attempt": 0, "digest": record["digest"]}))


def _verify(place: Path, record: dict[str, Any]) -> None:
    for entry in record["files"]:
        file = place / entry["path"]
        if Path(entry["path"]).name != entry["path"] or not file.is_file() or file.is_symlink():
            raise _changed(file, "no such file", f"{entry['bytes']} bytes")
        size, sha256 = hash_file(file)
        if (size, sha256) != (entry["bytes"], entry["sha256"]):
            raise _changed(file, f"sha256 {sha256}, {size} bytes", f"sha256 {entry['sha256']}, {entry['bytes']} bytes")


def _changed(file: Path, found: str, expected: str) -> FactoryError:
    return FactoryError(
        f"{file} is not what was saved",
        found=found,
        expected=expected,
        fix="promote another checkpoint, or restore this one from a copy",
        code="integrity",
    )
