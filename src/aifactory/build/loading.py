"""Finding the stage that a spec names, in the code of the image."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from aifactory.datasets import Stage
from aifactory.datasets.binding import bind_scope
from aifactory.errors import FactoryError
from aifactory.project import Project
from aifactory.spec import Build
from aifactory.spec.folders import import_folder


def load_stage(build: Build, project: Project | None = None) -> Stage:
    """The stage `module:name` of the project's assets, whose code must be what the spec was planned with.

    Raises FactoryError: code "import" for a module that can't be imported, "no_stage" where the module holds no such
    stage, "code_version" where it has another version.
    """
    project = project or Project.current()
    module_name, _, name = build.function.partition(":")
    module = _module(project, module_name)
    stage = bind_scope(vars(module)).get(name)
    if stage is None:
        raise FactoryError(
            f"{build.key}: the image has no stage {build.function}",
            found=", ".join(sorted(bind_scope(vars(module)))) or "no stages",
            expected=name,
            fix="plan it again from the code that is there now",
            code="no_stage",
        )
    if stage.code_version != build.code_version:
        raise FactoryError(
            f"{build.key}: the image's code is not the code that was planned",
            found=f"code version {stage.code_version}",
            expected=f"code version {build.code_version}",
            fix="plan it again",
            code="code_version",
        )
    return stage


def use(project: Project) -> None:
    """Make `assets` and `checks` those of this project."""
    root = str(project.root)
    if sys.path[:1] != [root]:
        sys.path[:] = [root, *(one for one in sys.path if one != root)]
        importlib.invalidate_caches()


def _module(project: Project, name: str) -> ModuleType:
    use(project)
    try:
        module = importlib.import_module(name)
    except FactoryError:
        raise
    except Exception as error:
        raise FactoryError(
            f"{name} can't be imported",
            found=f"{type(error).__name__}: {error}",
            fix="mend the file, and add what it imports to the group `data` of pyproject.toml",
            code="import",
        ) from error
    if not str(module.__file__).startswith(f"{project.root}/"):
        # Another checkout was imported by this process before; the folder's importer forgets it.
        import_folder(project, name.partition(".")[0])
        module = importlib.import_module(name)
    return module
