"""Pins by hand: the versions, the checkpoint and the image that a plan takes instead of those of today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import Trained, trained
from aifactory.launch.checkpoints.saved import names_checkpoint
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.images.older import older_image
from aifactory.launch.runs.summary import get_run
from aifactory.namespace import Key, Namespace
from aifactory.project import Project
from aifactory.spec import Context, ImageName, ImageRef, RunSpec, image_digest
from aifactory.spec.fit import RESUME


@dataclass(frozen=True)
class Pins:
    """`by_hand` and `of_run` map keys to versions (64 digits), the first winning; `run` is the one whose inputs are
    taken; `checkpoints` are those to start from, by line; `image` is a digest on this machine (8 digits or more);
    `resume` is the checkpoint to go on from, on the inputs of its run."""

    by_hand: Mapping[str, str] = field(default_factory=dict)
    of_run: Mapping[str, str] = field(default_factory=dict)
    checkpoints: Mapping[str, Trained] = field(default_factory=dict)
    run: str | None = None
    image: str | None = None
    resume: Trained | None = None

    @classmethod
    def of(
        cls,
        ns: Namespace,
        pins: Sequence[str] = (),
        inputs_of: str | None = None,
        image: str | None = None,
        resume_from: str | None = None,
    ) -> Pins:
        """`pins` are `key@version` (8 digits or more), or a checkpoint to start from; `resume_from` is one to go on
        from.

        Raises FactoryError: "pin" for one of another form or two of one key, "version" and "unpublished" for a version
        that the key's journal does not have, "checkpoint", "unknown_run".
        """
        by_hand: dict[str, str] = {}
        checkpoints: dict[str, Trained] = {}
        for text in map(ns.short, pins):
            if text.startswith("/") or names_checkpoint(text):
                found = trained(text, ns)
                key, version = found.ref.key, found.ref.version
                checkpoints[key] = found
            else:
                key, version = _parse(text, ns)
            if by_hand.setdefault(key, version) != version:
                raise _wrong(f"{key} is pinned twice", f"{by_hand[key]} and {version}", "one version", "keep one pin")
        of_run: dict[str, str] = {}
        if inputs_of is not None:
            of_run, place = _inputs(inputs_of, ns)
            if place is not None and (found := trained(place, ns)).ref.key not in by_hand:
                checkpoints[found.ref.key] = found
        resume = None if resume_from is None else _resumed(resume_from, ns)
        if resume is not None:
            of_run = {ref.key: ref.version for ref in (*resume.context.suites, *resume.spec.inputs)} | of_run
        return cls(by_hand, of_run, checkpoints, inputs_of, image, resume)

    def __bool__(self) -> bool:
        return bool(self.by_hand or self.run is not None or self.image is not None or self.resume is not None)

    @property
    def shown(self) -> list[str]:
        """What is pinned, in words."""
        resume = None if self.resume is None else self.resume.place
        return [*self.by_hand, *filter(None, (self.run, self.image, resume))]

    def said(self, image: ImageRef) -> tuple[str, ...]:
        """What a context keeps of them: `key@version`, a checkpoint's path, `inputs of <run>`, `image <digest>` (that
        of the spec, `image`, if it was named)."""
        by_hand = (
            self.checkpoints[key].place if self.is_checkpoint(key, version) else f"{key}@{version[:16]}"
            for key, version in self.by_hand.items()
        )
        run = [] if self.run is None else [f"inputs of {self.run}"]
        resume = [] if self.resume is None else [f"resume {self.resume.place}"]
        return (*sorted(by_hand), *run, *([] if self.image is None else [f"image {image.digest[:16]}"]), *resume)

    def is_checkpoint(self, key: str, version: str) -> bool:
        """Whether this is the digest of a pinned checkpoint of the line `key`, not a version of the line."""
        return key in self.checkpoints and self.checkpoints[key].ref.version == version

    def version(self, key: str) -> str | None:
        """The version to read the key in, if it is pinned."""
        return self.by_hand.get(key) or self.of_run.get(key)

    def check(self, reader: str, read: Iterable[str], *, needed: Iterable[str] = ()) -> None:
        """Raise FactoryError, code "pin", for a key pinned by hand that is not among those that are `read`, and for one
        of `needed` that the other run did not read."""
        known = sorted(set(read))
        for key in self.by_hand:
            if key not in known:
                raise _wrong(
                    f"{reader} does not read {key}, so it can't be pinned",
                    key,
                    close_matches(key, known),
                    "pin a key that it reads, or leave the pin out",
                )
        lacking = [] if self.run is None else [key for key in needed if self.version(key) is None]
        if lacking:
            raise _wrong(
                f"{reader} reads what the run {self.run} did not",
                ", ".join(sorted(self.of_run)),
                ", ".join(lacking),
                f"pin it too: --pin {lacking[0]}@<version>, or name a run that read it",
            )

    def no_resume(self, reader: str) -> None:
        """Raise FactoryError, code "pin", for a checkpoint to go on from: only a training does."""
        if self.resume is not None:
            place = self.resume.place
            raise _wrong(f"{reader} can't go on from a checkpoint", place, "a recipe", "leave it out, or name a recipe")

    def image_ref(self, project: Project, name: ImageName) -> ImageRef:
        """The image that is named, or else what the checkout makes. Raises FactoryError, code "unknown_image"."""
        if self.image is None:
            return ImageRef(name=name, digest=image_digest(project, name))
        return older_image(project, name, self.image)


NONE = Pins()


def _parse(text: str, ns: Namespace) -> tuple[str, str]:
    key, at, version = text.partition("@")
    if not at or not version:
        raise _wrong(
            f"{text!r} is no pin",
            text,
            "<key>@<version>, 8 digits or more, or a checkpoint",
            "`aifactory versions` lists them",
        )
    return str(Key.parse(key)), ns.resolve(key, version).version


def _resumed(name: str, ns: Namespace) -> Trained:
    found = trained(name, ns)
    if found.ref.kind != "checkpoint":
        raise _wrong(
            f"{name} is a line, not a checkpoint",
            name,
            "<run>/<step>, or the path of a checkpoint",
            f"name the checkpoint; to begin with its weights alone, launch with start={found.ref.key}",
        )
    return found


def _inputs(run: str, ns: Namespace) -> tuple[dict[str, str], str | None]:
    """Versions by key, and the place of the checkpoint that the run started from, if it did."""
    directory = get_run(ns, run)
    if not (directory / "context.json").is_file():
        raise FactoryError(
            f"the run {run} was never launched",
            found=f"{directory} without context.json",
            expected="a run that passed its gate or was refused by it",
            fix="name a run of `aifactory runs`",
            code="unknown_run",
        )
    spec, context = RunSpec.load(directory / "spec.json"), Context.load(directory / "context.json")
    place = context.places.get("start") if spec.inputs_of("checkpoint") else None
    read = (ref for ref in (*context.suites, *spec.inputs) if ref.role != RESUME)
    return {ref.key: ref.version for ref in read}, place


def _wrong(what: str, found: object, expected: object, fix: str) -> FactoryError:
    return FactoryError(what, found=found, expected=expected, fix=fix, code="pin")
