"""`checkpoints/step-<8 digits>/` of a run: how one lands whole or not at all, and is found. No torch.

checkpoint.json = {content: {format, spec, step, files: [{path, bytes, sha256}], ...}, attempt, digest}; the digest is
that of the content, so an attempt that repeats a step repeats its digest.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.namespace import Grant, Namespace
from aifactory.spec import InputRef, check_place
from aifactory.store import canonical, digest, fsync_directory, hash_file, make_directory, write_file, writing

FORMAT = 1
RECORD = "checkpoint.json"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose files were verified. `content` is checkpoint.json's, `digest` is over it."""

    path: Path
    content: dict[str, Any]
    attempt: int
    digest: str

    @property
    def step(self) -> int:
        return int(self.content["step"])

    def file(self, name: str) -> Path:
        """One of its files. Raises FactoryError (code "checkpoint") for one that it does not list."""
        if name not in {entry["path"] for entry in self.content["files"]}:
            raise FactoryError(f"{self.path} has no {name}", fix="use another checkpoint", code="checkpoint")
        return self.path / name


class Checkpoints:
    """The checkpoints of the run in `run`, as its attempt number `attempt` writes and reads them."""

    def __init__(self, run: Path, attempt: int, spec: str, *, reads: Sequence[str] = (), grants: Sequence[Grant] = ()):
        """`reads` are the keys of what the training reads, under `grants`: what they may not flow to is not written."""
        self.directory, self._run, self._attempt, self._spec = run / "checkpoints", run, attempt, spec
        self._reads, self._grants = tuple(reads), tuple(grants)

    def path(self, step: int) -> Path:
        return self.directory / f"step-{step:08d}"

    def save(self, step: int, files: Mapping[str, Callable[[Path], None]], extra: Mapping[str, Any]) -> Checkpoint:
        """Write each file by its function, then checkpoint.json (with `extra` in its content), then rename into place.

        A step that is there with an equal digest is done. Raises FactoryError: code "checkpoint_differs" for another
        digest (naming both), "stale_attempt" when a newer attempt of the run exists, "class" when the run's directory
        stands under a lower class than what it reads, "disk_full", "read_only".
        """
        check_place(self._run, self._reads, self._grants)
        self.refuse_stale()
        make_directory(self.directory)
        beside = self.directory / f".step-{step:08d}.attempt-{self._attempt}"
        shutil.rmtree(beside, ignore_errors=True)
        try:
            made = self._write(beside, step, files, extra)
            landed = self._land(beside, made)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        return landed

    def newest(self, note: Callable[[str], None]) -> Checkpoint | None:
        """The valid checkpoint with the highest step; `note` is told of each damaged or half one that was skipped."""
        for path in sorted(self.directory.glob("step-*"), reverse=True):
            if not path.name[5:].isdigit():
                continue
            try:
                found = open_checkpoint(path)
            except FactoryError as error:
                note(f"skipped the checkpoint {path.name}: {error}")
                continue
            if found.content["spec"] != self._spec:
                raise FactoryError(
                    f"{path} belongs to another spec",
                    found=found.content["spec"],
                    expected=self._spec,
                    fix="start a new run for this spec",
                    code="checkpoint",
                )
            return found
        return None

    def sweep(self) -> None:
        """Remove what earlier attempts left half written; for the newest attempt only."""
        self.refuse_stale()
        for path in self.directory.glob(".step-*"):
            shutil.rmtree(path, ignore_errors=True)

    def refuse_stale(self) -> None:
        """Raise FactoryError (code "stale_attempt") if the run has an attempt newer than this one."""
        numbers = [int(path.name) for path in (self._run / "attempts").glob("[0-9]*") if path.name.isdigit()]
        if (newest := max(numbers, default=self._attempt)) > self._attempt:
            raise FactoryError(
                f"attempt {self._attempt} of {self._run.name} was replaced: only the newest writes checkpoints",
                found=f"attempt {self._attempt}",
                expected=f"attempt {newest}",
                fix=f"end this process; attempt {newest} goes on",
                code="stale_attempt",
            )

    def _write(
        self, beside: Path, step: int, files: Mapping[str, Callable[[Path], None]], extra: Mapping[str, Any]
    ) -> Checkpoint:
        with writing(beside):
            beside.mkdir()
            entries = []
            for name in sorted(files):
                files[name](beside / name)
                (beside / name).chmod(0o444)
                _fsync(beside / name)
                size, sha256 = hash_file(beside / name)
                entries.append({"path": name, "bytes": size, "sha256": sha256})
            content = {**extra, "format": FORMAT, "spec": self._spec, "step": step, "files": entries}
            made = digest(content)
            write_file(beside / RECORD, canonical({"content": content, "attempt": self._attempt, "digest": made}))
            fsync_directory(beside)
        return Checkpoint(self.path(step), content, self._attempt, made)

    def _land(self, beside: Path, made: Checkpoint) -> Checkpoint:
        try:
            there = open_checkpoint(made.path)
        except FactoryError:
            if made.path.exists():
                made.path.rename(made.path.with_name(f"{made.path.name}.damaged-{self._attempt}"))
        else:
            if there.digest == made.digest:
                shutil.rmtree(beside)
                return there
            raise FactoryError(
                f"{made.path} is there already, with another content",
                found=f"{there.digest} by attempt {there.attempt}",
                expected=f"{made.digest} by attempt {self._attempt}",
                fix="the same spec gave two results: compare both attempts' metrics.jsonl, and start a new run",
                code="checkpoint_differs",
            )
        # Asked again: an attempt that was started while these files were written owns the name now.
        self.refuse_stale()
        beside.rename(made.path)
        fsync_directory(self.directory)
        return made


def open_checkpoint(path: Path, expected: str | None = None) -> Checkpoint:
    """Read checkpoint.json, and size and SHA-256 of every file it lists. `expected` is the digest that a spec names.

    Raises FactoryError: code "integrity" for a file that is missing or changed or a digest that differs, "checkpoint"
    for one that is half written or of another format. Each names the file and both values.
    """
    record = path / RECORD
    try:
        body = json.loads(record.read_bytes())
        content, attempt, claimed = dict(body["content"]), int(body["attempt"]), str(body["digest"])
        files = [(str(f["path"]), int(f["bytes"]), str(f["sha256"])) for f in content["files"]]
        form, _, _ = content["format"], str(content["spec"]), int(content["step"])
    except FileNotFoundError:
        raise _broken(f"{path} is not a whole checkpoint", "no checkpoint.json", RECORD) from None
    except (ValueError, KeyError, TypeError) as error:
        raise _broken(f"{record} can't be read", f"{type(error).__name__}: {error}", "a checkpoint's record") from error
    if form != FORMAT:
        raise _broken(f"{record} is of another format", form, FORMAT)
    if (actual := digest(content)) != claimed:
        raise _changed(record, actual, claimed)
    if expected is not None and claimed != expected:
        raise _changed(record, claimed, expected)
    for name, size, sha256 in files:
        file = path / name
        if Path(name).name != name or not file.is_file() or file.is_symlink():
            raise _changed(file, "no such file", f"{size} bytes")
        if (found := file.stat().st_size) != size:
            raise _changed(file, f"{found} bytes", f"{size} bytes")
        if (hashed := hash_file(file)[1]) != sha256:
            raise _changed(file, f"sha256 {hashed}", f"sha256 {sha256}")
    return Checkpoint(path, content, attempt, claimed)


def open_input(namespace: Namespace, ref: InputRef, places: Mapping[str, str]) -> Checkpoint:
    """The verified checkpoint behind an input of kind "model" (a snapshot of its line) or "checkpoint" (`places` says
    where, by role). Raises FactoryError: as `open_checkpoint`, and "checkpoint" without a place."""
    if ref.kind == "model":
        snapshot = namespace.resolve(ref.key, ref.version)
        snapshot.verify([RECORD])
        return open_checkpoint(snapshot.path)
    place = places.get(ref.role)
    if place is None:
        raise FactoryError(
            f"the context does not say where the checkpoint {ref.name} is",
            found=", ".join(places) or "no places",
            expected=f"a place for {ref.role!r}",
            fix="plan it again, naming the checkpoint's path",
            code="checkpoint",
        )
    return open_checkpoint(namespace.local(place), ref.version)


def _broken(what: str, found: object, expected: object) -> FactoryError:
    return FactoryError(what, found=found, expected=expected, fix="use another checkpoint", code="checkpoint")


def _changed(file: Path, found: object, expected: object) -> FactoryError:
    fix = "use another checkpoint, or restore this one from a copy"
    return FactoryError(f"{file} is not what was saved", found=found, expected=expected, fix=fix, code="integrity")


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
