"""All stages of a project, linked: names bound, inputs found, classes compared, circles refused."""

from __future__ import annotations

import gc
import importlib
import os
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from aifactory.datasets import binding, cache
from aifactory.datasets.code import forget_files
from aifactory.datasets.columns import check_columns
from aifactory.datasets.crossing import check_private
from aifactory.datasets.drift import moved
from aifactory.datasets.stage import Stage
from aifactory.errors import FactoryError
from aifactory.namespace import Grant, Key, Namespace, load_grants
from aifactory.namespace.access import check_graph
from aifactory.project import Project
from aifactory.spec.folders import import_folder


def find_stages(project: Project | None = None) -> dict[str, Stage]:
    """Every stage under `assets/` by its key, sorted; the files are imported. Warns where a code version that was set
    by hand was first built with other code.

    Raises FactoryError: code "import" (naming the file), "key" (a file or variable that can't be part of a key),
    "two_names", "unnamed", "two_keys", "unknown_input", "cycle", "class" (naming every edge that the grants in force
    don't allow), "grants", "unknown_column", "two_checks".
    """
    collecting = gc.isenabled()
    gc.disable()  # thousands of objects are made that all stay: looking through them again and again frees nothing
    try:
        return _find(project or Project.current())
    finally:
        if collecting:
            gc.enable()


def _find(project: Project) -> dict[str, Stage]:
    folder = project.root / "assets"
    packages = _packages(project.root, folder)
    modules = import_folder(project, "assets")
    modules += [importlib.import_module(name) for name in packages]
    forget_files()
    cache.load(project)
    stages = link(modules, load_grants(project))
    for stage in stages.values():
        _ = stage.code_version
        if stage.given_code_version is not None and stage.function is not None:
            warning = moved(Namespace.of(project), stage)
            if warning is not None:
                warnings.warn(warning, stacklevel=2)
    cache.save(project)
    return stages


def link(modules: Iterable[ModuleType], grants: Iterable[Grant] = ()) -> dict[str, Stage]:
    """Bind the stages of these modules to their keys and check them together."""
    found: dict[str, Stage] = {}
    for module in modules:
        for name, stage in binding.bind_scope(vars(module)).items():
            key = _key(stage, name)
            if key in found and found[key] is not stage:
                raise FactoryError(
                    f"two datasets have the key {key}",
                    found=f"{found[key].file} and {stage.file}",
                    expected="one file and one variable per key",
                    fix="rename one of them",
                    code="two_keys",
                )
            found[key] = stage
        _all_named(module)
    for stage in found.values():
        _name_inputs(stage, found)
    _no_circle(found)
    check_graph({name: [edge.key for edge in stage.edges] for name, stage in found.items()}, grants)
    for stage in found.values():
        check_private(stage)
        check_columns(stage)
        _parted(stage)
        _ = stage.checks
    return {str(key): found[key] for key in sorted(found)}


def _key(stage: Stage, name: str) -> Key:
    try:
        key = binding.key(stage.module, name)
    except FactoryError as error:
        raise FactoryError(
            f"{stage.file}:{stage.line}: {error.what}",
            found=error.found,
            expected=error.expected,
            fix=error.fix,
            code="key",
        ) from None
    assert key is not None
    return key


def _all_named(module: ModuleType) -> None:
    for stage in Stage.made_in(module):
        if stage.bound_name is None:
            name = getattr(stage.function, "__name__", None)
            raise FactoryError(
                f"{stage.file}:{stage.line}: this stage has no name",
                found=f"{name}, whose name stands for something else by the end of the file" if name else "no variable",
                expected="one variable of the module per stage",
                fix="give every stage a variable of its own, and no two the same",
                code="unnamed",
            )


def _name_inputs(stage: Stage, found: dict[str, Stage]) -> None:
    for role, given in stage.given_inputs.items():
        if isinstance(given, str):
            key = Key.parse(given)
            if key not in found:
                close = get_close_matches(key, found, n=3, cutoff=0.5)
                raise FactoryError(
                    f"{stage.label}: its input {role!r} is no stage of assets/",
                    found=key,
                    expected=f"one of {close}" if close else "the key of a stage",
                    fix="name a stage that exists, or add it",
                    code="unknown_input",
                )
            stage.given_inputs[role] = found[key]
    stage.relink()


def _parted(stage: Stage) -> None:
    above = stage.edges[0].stage if stage.factory == "tokenize" else None
    if above is not None and above.factory != "split":
        raise FactoryError(
            f"{stage.label}: {above.label} has no parts",
            found=f"a stage made by {above.factory}",
            expected="a stage made by split",
            fix="tokenize a split of it: split(stage, by=..., train=0.9, val=0.05, test=0.05)",
            code="parts",
        )


def _no_circle(found: dict[str, Stage]) -> None:
    done: set[str] = set()
    for start in found:
        path: list[str] = []
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            key, position = stack.pop()
            if position == 0:
                if key in done:
                    continue
                path.append(key)
            edges = found[key].edges if key in found else ()
            if position < len(edges):
                stack.append((key, position + 1))
                after = edges[position].key
                if after in path:
                    raise binding.cycle([*path[path.index(after) :], after])
                if after not in done:
                    stack.append((after, 0))
            else:
                done.add(key)
                path.pop()


def _packages(root: Path, folder: Path) -> list[str]:
    """Modules of folders that are packages. A file and a folder of one name would stand for the same keys."""
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in folders:
            if f"{name}.py" in files and any(Path(place, name).rglob("*.py")):
                raise FactoryError(
                    f"{Path(place, name)}.py and {Path(place, name)} stand for the same keys",
                    found="a file and a folder of one name",
                    expected="one of them",
                    fix="move the file's stages into the folder, or rename one",
                    code="two_keys",
                )
        if "__init__.py" in files:
            found.append(".".join(Path(place).relative_to(root).parts))
    return found
