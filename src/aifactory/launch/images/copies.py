"""Images of the laptop: a copy of an image's build inputs, run with the environment of its lock.

`python -m aifactory.launch.images.copies NAME` makes the one of the checkout that it is imported from.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import shutil
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aifactory.environments import ensure_environment
from aifactory.errors import FactoryError
from aifactory.launch.images.rebuild import rebuild
from aifactory.launch.images.schema import ABOUT, schema_of, schema_of_copy
from aifactory.project import Project
from aifactory.spec import ImageName, ImageRef, git_facts, image_digest, image_inputs, inputs_digest
from aifactory.store import canonical


@dataclass(frozen=True)
class LocalImage:
    """`path` holds `src/`, `locks/` and, for data, `assets/` and `checks/`; `python` is the interpreter to run it."""

    name: ImageName
    digest: str
    path: Path
    python: Path


def images_directory(project: Project) -> Path:
    return project.state / "images"


def ensure_image(
    project: Project, name: ImageName, digest: str | None = None, *, say: Callable[[str], None] = lambda text: None
) -> LocalImage:
    """The image `name` (with this digest; the checkout's present one by default), made unless it is there, with its
    environment. Safe to call from several processes at once.

    Raises FactoryError: "image_gone" when an older digest is asked for and not here, "image_altered" when the copy's
    files are not those that the digest names, "environment" when uv fails.
    """
    present = image_digest(project, name) if digest is None else digest
    path = images_directory(project) / present
    if not path.is_dir():
        if digest is not None and image_digest(project, name) != digest:
            raise gone(project, ImageRef(name=name, digest=digest))
        _copy(project, name, present, path)
    verify(path, name, present)
    python = ensure_environment(project.envs, path / "locks" / f"{name}.lock", say=say)
    return LocalImage(name=name, digest=present, path=path, python=python)


def available(project: Project, image: ImageRef) -> bool:
    """Whether the image is here, or can be made from the checkout as it stands."""
    return (images_directory(project) / image.digest).is_dir() or image_digest(project, image.name) == image.digest


def image_schema(project: Project, image: ImageRef) -> str:
    """The digest of the config types that an available image reads specs with."""
    copy = images_directory(project) / image.digest
    return schema_of_copy(copy) if copy.is_dir() else schema_of(image.digest, project.package.parent)


def verify(path: Path, name: ImageName, digest: str) -> None:
    """Compare the copy's files with its digest: all that it holds, whatever an image is made of by now."""
    held = (file for file in path.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
    found = inputs_digest({file.relative_to(path).as_posix(): file for file in held if file != path / ABOUT})
    if found != digest:
        raise FactoryError(
            f"the image {name} under {path} is not what its digest names",
            found=found,
            expected=digest,
            fix=f"remove the folder (chmod -R u+w {path} && rm -r {path}) and launch again",
            code="image_altered",
        )


def gone(project: Project, image: ImageRef, commit: str | None = None) -> FactoryError:
    """The refusal of a spec whose image is not on this machine."""
    return FactoryError(
        f"the image {image.name} of this spec is not on this machine, and the checkout makes another",
        found=image_digest(project, image.name),
        expected=image.digest,
        fix=rebuild(image, commit),
        code="image_gone",
    )


def _copy(project: Project, name: ImageName, digest: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".{digest[:16]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    try:
        inputs = image_inputs(project, name)
        for relative, source in inputs.items():
            target = part / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        copied = inputs_digest({relative: part / relative for relative in inputs})
        if copied != digest:
            raise FactoryError(
                f"the files of the image {name} changed while they were copied",
                found=copied,
                expected=digest,
                fix="launch again when nobody edits them",
                code="image_changed",
            )
        # The copy never changes, so its byte code needs no check, and no run has to write any.
        compileall.compile_dir(
            part, quiet=1, force=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
        _describe(project, name, digest, part)
        for file in part.rglob("*"):
            if file.is_file():
                file.chmod(0o444)
        part.rename(path)
    except OSError:
        # Another process was first: its copy is the same bytes.
        if not path.is_dir():
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _describe(project: Project, name: str, digest: str, part: Path) -> None:
    facts = git_facts(project.root)
    schema = schema_of(digest, part / "src")
    about = {
        "name": name,
        "config_schema": "" if schema.startswith("unknown") else schema,
        "commit": facts.commit,
        "dirty": facts.dirty,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    (part / ABOUT).write_bytes(canonical(about) + b"\n")


if __name__ == "__main__":
    made = ensure_image(Project.current(), sys.argv[1])  # type: ignore[arg-type]
    print(made.digest)
