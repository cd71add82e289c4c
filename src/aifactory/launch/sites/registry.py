"""`sites.toml`: places with a tree of their own, one table each."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import Field, ValidationError, field_validator

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import HERE
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.clusters.shape import Strict
from aifactory.project import Project

FILE = "sites.toml"
PATH = "{path}"


class Site(Strict):
    """A place with a tree of its own. `view` is where this machine sees that tree; `wait_seconds` how long a run waits
    for its data; `copy_with` (`copy` in the file) the command that people copy one version with."""

    name: str
    view: Path | None = None
    wait_seconds: float = Field(default=900.0, ge=0)
    copy_with: str = Field(default="", alias="copy")

    @field_validator("view")
    @classmethod
    def _absolute(cls, view: Path | None) -> Path | None:
        if view is not None and not view.is_absolute():
            raise ValueError("it is no absolute path")
        return view

    @field_validator("copy_with")
    @classmethod
    def _names_the_path(cls, command: str) -> str:
        if command and PATH not in command:
            raise ValueError(f"it doesn't say {PATH}, which stands for <key>/@<version>")
        return command

    def copying(self, path: str) -> str:
        """The command that copies `<key>/@<version>` here; empty where none is written down."""
        return self.copy_with.replace(PATH, path)


def load_sites(project: Project) -> dict[str, Site]:
    """Sites by name: those of `sites.toml`, and `here`, whose tree is the one that the project's namespace is in.

    Raises FactoryError, code "sites", naming the table and the field that is wrong.
    """
    path = project.root / FILE
    try:
        tables = tomllib.loads(path.read_text()) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FactoryError(f"{path} is not TOML", found=error, fix="correct that line", code="sites") from error
    found = {HERE: Site(name=HERE, view=project.namespace)}
    for name, table in tables.items():
        if name == HERE:
            raise FactoryError(
                f"{path}: `{HERE}` is the tree of whoever launches",
                found=f"[{HERE}]",
                expected="another name",
                fix="remove the table, or name the site",
                code="sites",
            )
        if not isinstance(table, dict):
            raise FactoryError(
                f"{path}: {name} is not a table",
                found=repr(table),
                expected=f"[{name}]",
                fix="write a table",
                code="sites",
            )
        try:
            found[name] = Site.model_validate({**table, "name": name})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise FactoryError(
                f"{path}: the site {name} is wrong",
                found=f"{'.'.join(map(str, first['loc']))}: {first['msg']} (found {first['input']!r})",
                expected="view, wait_seconds and copy",
                fix="correct that field",
                code="sites",
            ) from error
    return found


def get_site(name: str, project: Project) -> Site:
    """Raises FactoryError, code "unknown_site", with those that there are."""
    sites = load_sites(project)
    if name not in sites:
        raise FactoryError(
            f"there is no site {name!r}",
            found=name,
            expected=close_matches(name, list(sites)),
            fix=f"name one of {FILE}, or add it there",
            code="unknown_site",
        )
    return sites[name]
