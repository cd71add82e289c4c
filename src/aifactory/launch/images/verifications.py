"""What verified an image: the journal `<class root>/images/<name>`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.spec import ImageName
from aifactory.store import Journal

IMAGES = "images"


@dataclass(frozen=True)
class Verification:
    """A run that succeeded with an image: `digest` of its build inputs, `oci` the digest that was pulled
    (`sha256:...`; empty on the laptop, which pulls none), the `run`, the cluster it ran on, when it was recorded (UTC,
    ISO 8601), and the version of the smoke that it was (0: it was none)."""

    digest: str
    oci: str
    run: str
    where: str
    at: str = ""
    smoke: int = 0


def record(ns: Namespace, access: str, name: ImageName, one: Verification) -> None:
    """Append to the journal of a class; its time is that of the record."""
    body = {key: value for key, value in asdict(one).items() if key != "at"}
    _journal(ns.class_root(access), name).append(body, writer=one.run)


def verifications(ns: Namespace, name: ImageName, access: Iterable[str] = ("public",)) -> list[Verification]:
    """What the journals of these classes say of the image `name`, the oldest first.

    Raises FactoryError, code "journal", for a record that was altered or says something else.
    """
    found = []
    for root in dict.fromkeys(root for one in access for root in ns.class_roots(one)):
        for entry in _journal(root, name).records():
            try:
                found.append(Verification(**entry.body, at=entry.at))
            except TypeError as error:
                raise FactoryError(
                    f"record {entry.n} of {root / IMAGES / name} is no verification of an image",
                    found=", ".join(sorted(entry.body)),
                    expected="digest, oci, run, where",
                    fix="read it with the release that wrote it",
                    code="journal",
                ) from error
    return sorted(found, key=lambda one: one.at)


def _journal(root: Path, name: ImageName) -> Journal:
    return Journal(root / IMAGES / name)
