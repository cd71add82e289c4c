"""What the files of a folder define for Dagster."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from aifactory.errors import FactoryError


def defined[T](root: Path, folder: str, kinds: tuple[type[T], ...]) -> list[T]:
    """Every object of `kinds` that a file of `root/folder` binds at its top level, by file name, each once.

    Raises FactoryError (code "import") naming the file that can't be imported, (code "duplicate") for one name that
    two files define.
    """
    found: dict[str, tuple[T, Path]] = {}
    for path in sorted((root / folder).glob("*.py")):
        if path.name == "__init__.py":
            continue
        for item in vars(_module(path, f"{folder}.{path.stem}")).values():
            if not isinstance(item, kinds):
                continue
            name = str(getattr(item, "name", id(item)))
            if name in found and found[name][0] is not item:
                raise FactoryError(
                    f"{folder}: {name!r} is defined twice",
                    found=path.name,
                    expected=f"only in {found[name][1].name}",
                    fix="rename one of them",
                    code="duplicate",
                )
            found.setdefault(name, (item, path))
    return [item for item, _ in found.values()]


def modules(root: Path, folder: str) -> Iterator[ModuleType]:
    """The modules of a folder, by file name."""
    for path in sorted((root / folder).glob("*.py")):
        if path.name != "__init__.py":
            yield _module(path, f"{folder}.{path.stem}")


def _module(path: Path, name: str) -> ModuleType:
    # By path, so that neither the working directory nor another package called `jobs` decides what is loaded.
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FactoryError(f"{path} is not a Python file", code="import")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except FactoryError:
        raise
    except Exception as error:
        raise FactoryError(
            f"{path} can't be imported: {type(error).__name__}: {error}", fix=f"correct {path.name}", code="import"
        ) from error
    return module
