"""Importing a project's own folders (`recipes/`, and the `assets/` that they name) as top-level packages."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from aifactory.errors import FactoryError
from aifactory.project import Project

OWN = ("assets", "checks", "recipes")


def import_folder(project: Project, folder: str) -> list[ModuleType]:
    """Every module under `<project>/<folder>/`, imported in the order of their paths; none if there is no folder.

    Modules of these names that another checkout left in this process are forgotten first. FactoryError with code
    "import" names the file that can't be imported and why.
    """
    root = project.root / folder
    if not root.is_dir():
        return []
    _forget_others(project.root)
    if sys.path[:1] != [str(project.root)]:
        sys.path[:] = [str(project.root), *(one for one in sys.path if one != str(project.root))]
    importlib.invalidate_caches()
    _own_package(root)
    return [_import(project.root, path) for path in _sources(root)]


def _own_package(root: Path) -> None:
    """A folder without `__init__.py` loses to any installed package of its name; so the package is made here."""
    if root.name not in sys.modules and not (root / "__init__.py").exists():
        package = ModuleType(root.name)
        package.__path__ = [str(root)]
        sys.modules[root.name] = package


def _sources(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).parts
        if not any(part.startswith((".", "__")) for part in inside):
            yield path


def _import(root: Path, path: Path) -> ModuleType:
    name = ".".join(path.relative_to(root).with_suffix("").parts)
    try:
        module = importlib.import_module(name)
    except FactoryError:
        raise
    except Exception as error:
        place = _place(root, error)
        own = path.relative_to(root)
        raise FactoryError(
            f"{own} can't be imported",
            found=f"{type(error).__name__}: {error}" + (f" (at {place})" if place else ""),
            expected="a module that imports without an error",
            fix=f"mend {place or own}; `python -m {name}` shows the whole trace",
            code="import",
        ) from error
    if module.__file__ is None or Path(module.__file__).resolve() != path.resolve():
        raise FactoryError(
            f"the module {name} comes from another place",
            found=module.__file__,
            expected=path,
            fix="remove the other one from PYTHONPATH, or rename it",
            code="import",
        )
    return module


def _places(module: ModuleType) -> list[str]:
    """Where a module stands; a namespace package of several folders is judged by the modules in it."""
    file: str | None = getattr(module, "__file__", None)
    paths = [str(path) for path in getattr(module, "__path__", ())]
    return [file] if file else paths if len(paths) == 1 else []


def _forget_others(root: Path) -> None:
    """Drop packages of our top-level names if any of their modules stands outside `root`."""
    ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in OWN}
    foreign = {
        name.partition(".")[0]
        for name, module in ours.items()
        if any(not Path(place).resolve().is_relative_to(root) for place in _places(module))
    }
    for name in ours:
        if name.partition(".")[0] in foreign:
            del sys.modules[name]


def _place(root: Path, error: Exception) -> str:
    """The last line of the project itself that the error went through, as `file:line`; empty where there is none."""
    frames = [(one.filename, one.lineno) for one in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno))
    own = [(Path(file), line) for file, line in frames if Path(file).is_relative_to(root)]
    return f"{own[-1][0].relative_to(root)}:{own[-1][1]}" if own else ""
