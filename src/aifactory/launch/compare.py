"""Compare two runs, specs or plans: what they name, and the facts that a diff tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from aifactory.datasets import find_stages
from aifactory.errors import FactoryError
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.plans.plan import Plan, plan
from aifactory.launch.runs.names import RUN_NAME
from aifactory.launch.runs.summary import find_run, get_run, runs_directories
from aifactory.launch.sources import commits_between, image_files
from aifactory.namespace import Manifest, Namespace
from aifactory.project import Project
from aifactory.spec import Context, RunSpec, find_recipes, load_frozen
from aifactory.spec.diff import diff
from aifactory.spec.difference import Diff, Facts, Side
from aifactory.store import Journal

HASH = re.compile(r"[0-9a-f]{8,64}")
GENERATED = re.compile(r"(build|train|evaluate|smoke)-.*-[0-9a-f]{12}")
SPEC, CONTEXT, RESOLUTIONS = "spec.json", "context.json", "resolutions"


def side(text: str, *, project: Project | None = None, ns: Namespace | None = None) -> Side:
    """What `text` names: a spec file (or the directory of one), the hash of a frozen spec (8 digits or more), a run,
    or what can be planned (a recipe, a stage's key, a checkpoint), which freezes its spec and launches nothing.

    Raises FactoryError: "unknown_run", "unknown_spec", "unknown_target" with close names; "no_spec", "edited",
    "unknown_schema", "context" for files; GateRefused for a recipe whose inputs are not built.
    """
    project = project or Project.current()
    ns = ns or Namespace.of(project)
    path = Path(text)
    if text.endswith(".json") or ("/" in text and (path / SPEC).is_file()):
        return side_of_file(path / SPEC if path.is_dir() else path, text)
    if HASH.fullmatch(text):
        frozen = load_frozen(ns, text)
        return Side(f"spec {frozen.spec.hash[:16]}", frozen.spec, _known(frozen.resolution))
    if RUN_NAME.fullmatch(text) and (run := find_run(ns, text)) is not None:
        return side_of_run(run)
    if GENERATED.fullmatch(text):
        return side_of_run(get_run(ns, text))
    if "/" not in text and text not in (recipes := find_recipes(project)):
        known = [path.name for directory in runs_directories(ns) for path in directory.iterdir()]
        raise FactoryError(
            f"neither a run, a recipe nor a spec is called {text!r}",
            found=text,
            expected=close_matches(text, [*recipes, *find_stages(project), *known]),
            fix="`aifactory runs` lists the runs; a run that was never launched has nothing to compare",
            code="unknown_target",
        )
    return side_of_plan(plan(text, project=project, ns=ns), f"plan of {text}")


def side_of_run(directory: Path) -> Side:
    """The spec and the context that a run was launched with; FactoryError "unknown_run" while it is just being made."""
    if not (directory / CONTEXT).is_file():
        raise FactoryError(
            f"the run {directory.name} was never launched",
            found=f"{directory} without {CONTEXT}",
            expected="a run that passed its gate or was refused by it",
            fix="launch it again under this name, or compare its spec by hash",
            code="unknown_run",
        )
    return side_of_file(directory / SPEC, directory.name)


def side_of_file(path: Path, name: str) -> Side:
    """A spec file with what stands beside it: the context of a run, or the resolutions of a frozen spec."""
    spec, place = RunSpec.load(path), path.parent
    if (place / CONTEXT).is_file():
        return Side(name, spec, Context.load(place / CONTEXT).document())
    last = Journal(place / RESOLUTIONS).last() if (place / RESOLUTIONS).is_dir() else None
    return Side(name, spec, _known(last.body) if last is not None else {})


def side_of_plan(planned: Plan, name: str) -> Side:
    """A plan that may never be launched."""
    return Side(name, planned.spec, planned.context.document())


def compare(old: Side, new: Side, *, project: Project | None = None, ns: Namespace | None = None) -> Diff:
    """Gather what is known about the inputs, images and commits that differ, and compare. What can't be found any more
    (a snapshot that was swept, an image of another machine, a commit of another clone) is told by its digest."""
    project = project or Project.current()
    ns = ns or Namespace.of(project)
    return diff(old, new, gather_facts(old, new, project, ns))


def gather_facts(old: Side, new: Side, project: Project, ns: Namespace) -> Facts:
    """The facts of a diff: manifests, build inputs of images, commits; only of what differs."""
    refs = set(old.spec.inputs) ^ set(new.spec.inputs)
    manifests = {(ref.key, ref.version): manifest for ref in refs if (manifest := _manifest(ns, ref.key, ref.version))}
    commits = [one.context.get("commit") for one in (old, new)]
    facts = Facts(manifests=manifests)
    if commits[0] != commits[1]:
        facts = replace(facts, commits=commits_between(project.root, *commits))
    if old.spec.image != new.spec.image:
        known = {
            one.spec.image.digest: image_files(project, one.spec.image, one.context.get("commit")) for one in (old, new)
        }
        facts = replace(facts, images={digest: files for digest, files in known.items() if files is not None})
    return facts


def _manifest(ns: Namespace, key: str, version: str) -> Manifest | None:
    try:
        return ns.resolve(key, version).manifest
    except FactoryError:
        return None


def _known(resolution: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in resolution.items() if name in Context.model_fields}
