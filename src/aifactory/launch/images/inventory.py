"""The images on this machine: what they are, who uses them, and what verified them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from aifactory.environments import environment_path
from aifactory.launch.images.copies import images_directory
from aifactory.launch.images.schema import ABOUT, schema_of_copy
from aifactory.launch.images.verifications import Verification, verifications
from aifactory.launch.runs.summary import runs_directories
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import ImageName


@dataclass(frozen=True)
class ImageSummary:
    """One image on this machine.

    `commit` of the checkout it was copied from, `made` in UTC (ISO 8601), `environment` the name of that of its lock,
    `size` in bytes without the environment, `config_schema` the digest of the config types that its code reads specs
    with; `specs` (hashes) and `runs` that name it; `verified` what its journals say of it.
    """

    name: str
    digest: str
    path: Path
    commit: str | None
    dirty: bool
    made: str
    environment: str
    size: int
    config_schema: str
    specs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    verified: tuple[Verification, ...] = ()


def list_images(project: Project, ns: Namespace | None = None) -> list[ImageSummary]:
    """The images on this machine, newest first. Specs and runs that can't be read are passed over."""
    ns = ns or Namespace.of(project)
    specs, runs = _users(_specs(ns)), _users(_runs(ns))
    classes = dict.fromkeys(ns.class_of(root) for root in ns.class_roots())
    proofs = {name: verifications(ns, name, classes) for name in get_args(ImageName)}
    found = []
    for path in images_directory(project).glob(f"*/{ABOUT}"):
        about, copy = json.loads(path.read_bytes()), path.parent
        name: ImageName = about["name"]
        found.append(
            ImageSummary(
                name=name,
                digest=copy.name,
                path=copy,
                commit=about["commit"],
                dirty=about["dirty"],
                made=about["made"],
                environment=environment_path(project.envs, copy / "locks" / f"{name}.lock").name,
                size=sum(file.stat().st_size for file in copy.rglob("*") if file.is_file()),
                config_schema=schema_of_copy(copy),
                specs=tuple(specs[copy.name]),
                runs=tuple(runs[copy.name]),
                verified=tuple(one for one in proofs[name] if one.digest == copy.name),
            )
        )
    return sorted(found, key=lambda image: image.made, reverse=True)


def _users(named: Iterator[Path]) -> defaultdict[str, list[str]]:
    """Names of the directories whose spec.json names an image, by its digest."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for directory in named:
        try:
            digest = json.loads((directory / "spec.json").read_bytes())["spec"]["image"]["digest"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if directory.name not in found[digest]:
            found[digest].append(directory.name)
    return found


def _runs(ns: Namespace) -> Iterator[Path]:
    for directory in runs_directories(ns):
        yield from sorted(directory.iterdir())


def _specs(ns: Namespace) -> Iterator[Path]:
    for root in ns.class_roots():
        if (root / "specs").is_dir():
            yield from sorted((root / "specs").iterdir())
