"""`images.toml`: which images clusters run, one table each. The laptop needs none."""

from __future__ import annotations

import tomllib
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aifactory.errors import FactoryError
from aifactory.project import Project
from aifactory.spec import ImageName

FILE = "images.toml"


class PinnedImage(BaseModel):
    """`digest` of its build inputs (64 hex digits), and the OCI `reference` that is pulled: one that names no
    `@sha256:` may move, and the gate refuses it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    reference: str = Field(min_length=1)


def load_pinned(project: Project) -> dict[str, PinnedImage]:
    """Images by name; none without the file. Raises FactoryError, code "images", naming the table that is wrong."""
    path = project.root / FILE
    try:
        tables = tomllib.loads(path.read_text()) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FactoryError(f"{path} is not TOML", found=error, fix="correct that line", code="images") from error
    found = {}
    for name, table in tables.items():
        if name not in get_args(ImageName):
            names = " or ".join(get_args(ImageName))
            raise FactoryError(f"{path}: there is no image {name}", found=name, expected=names, code="images")
        try:
            found[name] = PinnedImage.model_validate(table)
        except ValidationError as error:
            first = error.errors()[0]
            raise FactoryError(
                f"{path}: the table of {name} is wrong",
                found=f"{'.'.join(map(str, first['loc'])) or 'the table'}: {first['msg']}",
                expected='digest = "<64 hex digits>" and reference = "<repository>@sha256:<64 digits>"',
                fix="correct that field",
                code="images",
            ) from error
    return found
