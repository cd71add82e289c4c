"""The project's settings: the tables `[tool.aifactory...]` of its pyproject.toml."""

from __future__ import annotations

import difflib
import tomllib
from typing import Any

from aifactory.errors import FactoryError
from aifactory.project import Project

FILE = "pyproject.toml"
TABLES = ("grants", "identities", "notify", "smoke")


def setting(project: Project, name: str) -> Any:
    """What stands under `tool.aifactory.<name>`; None without the file (an image has none) or the table.

    Raises FactoryError, code "settings", for a file that is no TOML, and for a table that nobody reads: a misspelt
    name would silently be no setting at all.
    """
    path = project.root / FILE
    try:
        document = tomllib.loads(path.read_text()) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FactoryError(f"{path} is not TOML", found=error, fix="correct that line", code="settings") from error
    tables = document.get("tool", {}).get("aifactory", {})
    if not isinstance(tables, dict):
        raise FactoryError(
            f"{path}: tool.aifactory is no table",
            found=type(tables).__name__,
            expected=", ".join(f"tool.aifactory.{one}" for one in TABLES),
            fix="write [tool.aifactory.<name>], or [[tool.aifactory.grants]] for each grant",
            code="settings",
        )
    for found in tables:
        if found not in TABLES:
            close = difflib.get_close_matches(found, TABLES, n=1)
            raise FactoryError(
                f"{path}: nothing reads tool.aifactory.{found}",
                found=found,
                expected=", ".join(TABLES),
                fix=f"write tool.aifactory.{close[0]}" if close else "remove it",
                code="settings",
            )
    return tables.get(name)
