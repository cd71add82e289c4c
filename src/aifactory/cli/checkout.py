"""One environment serves one checkout."""

from __future__ import annotations

import os
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.project import Project


def same_checkout(folder: Path | None = None) -> None:
    """FactoryError (code "second_checkout") when `folder` (the working directory) lies in another checkout of this
    project than the one that this command was installed from: it would plan and launch the other one's code."""
    if os.environ.get("AIFACTORY_PROJECT"):
        return
    project = Project.current()
    here = (folder or Path.cwd()).resolve()
    for place in (here, *here.parents):
        if (place / "src" / "aifactory" / "errors.py").is_file() and (place / "pyproject.toml").is_file():
            if place != project.root:
                raise FactoryError(
                    "this command belongs to another checkout of the project than the one you stand in",
                    found=f"you stand in {place}",
                    expected=project.root,
                    fix=f"run {place}/.aifactory/envs/control-*/bin/aifactory (any make target there makes it), "
                    "or set AIFACTORY_PROJECT to the checkout that you mean",
                    code="second_checkout",
                )
            return
