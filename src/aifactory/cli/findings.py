"""What the doctor looks at. Each finding names its object, and the fix where there is something to mend."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from aifactory import roots
from aifactory.environments import PYTHON, environment_path, find_uv, is_complete
from aifactory.errors import FactoryError
from aifactory.project import Project

if TYPE_CHECKING:
    from aifactory.namespace.identities import Identity

BROKEN_BELOW, WARN_BELOW = 1e9, 8e9
LOCKS = ("control", "data", "crossing", "train", "dev")


@dataclass(frozen=True)
class Finding:
    """One line of the doctor."""

    name: str
    state: Literal["ok", "warning", "broken"]
    text: str
    fix: str = ""


def machine(project: Project) -> Iterator[Finding]:
    """Python, uv, disk, the root's writability, environments."""
    version = platform.python_version()
    if version.startswith(PYTHON):
        yield Finding("python", "ok", f"{version} at {sys.executable}")
    else:
        yield Finding("python", "broken", f"{version}, and the project needs {PYTHON}", "make demo makes one with it")
    yield _guard("uv", lambda: Finding("uv", "ok", " ".join(find_uv())))
    free = shutil.disk_usage(_existing(project.state)).free
    text = f"{free / 1e9:.1f} GB free under {project.state}"
    if free < BROKEN_BELOW:
        yield Finding("disk", "broken", text, f"free some: at least {BROKEN_BELOW / 1e9:.0f} GB")
    elif free < WARN_BELOW:
        yield Finding("disk", "warning", text, "a first set-up of all environments takes about 8 GB")
    else:
        yield Finding("disk", "ok", text)
    yield _root(project)
    own = project.root / "locks"
    locks = own if own.is_dir() else project.package.parents[1] / "locks"
    made = [name for name in LOCKS if is_complete(environment_path(project.envs, locks / f"{name}.lock"))]
    rest = [name for name in LOCKS if name not in made]
    later = f"; at first use: {', '.join(rest)}" if rest else ""
    yield Finding("environments", "ok", f"made: {', '.join(made) or 'none'}{later}")


def work(project: Project) -> Iterator[Finding]:
    """Definitions, grants, clusters, sources, git, services."""
    yield _guard("stages", lambda: _stages(project), "correct the file that it names")
    yield _guard("grants", lambda: _grants(project))
    yield _guard("clusters", lambda: _clusters(project))
    yield _guard("sites", lambda: _sites(project))
    yield _mirror()
    yield _guard("restricted", lambda: _restricted(project))
    yield _guard("git", lambda: _git(project))
    yield _services(project)


def records(project: Project, *, verify: bool) -> Iterator[Finding]:
    """Journals, the view that people see of them, snapshots: broken ones by name, else one line."""
    from aifactory.namespace import Namespace, Publications
    from aifactory.namespace.snapshot import folder

    try:
        ns = Namespace.of(project)
    except FactoryError:
        return  # which the line about the root says
    good, published = 0, ns.keys()
    for key in published:
        try:
            publications = Publications(ns, key)
            last = publications.all()[-1]
            snapshot = ns.resolve(key)
            if verify:
                snapshot.verify()
            else:
                snapshot.look()
            shown, own = ns.directory(key) / "@current", publications.directory / folder(last.version)
            # Another root's is not ours to mend, and where only another one holds the version there is none.
            history = publications.history()
            mine = history is not None and history.root == ns.root and (own.is_dir() or not ns.lower)
            if mine and (not shown.is_symlink() or shown.readlink().name != own.name):
                publications.show()
                yield Finding("record", "warning", f"{key}: @current did not show {last.version[:16]}; it does now")
            good += 1
        except FactoryError as error:
            yield Finding("record", "broken", f"{key}: {error.what}{_found(error)}", error.fix)
        except (OSError, IndexError) as error:
            yield Finding("record", "broken", f"{key}: {error}", f"look at {ns.directory(key)}")
    how = "every file compared" if verify else "sizes compared; --verify compares every byte"
    yield Finding("records", "ok", f"{good} keys are whole ({how})")


def _root(project: Project) -> Finding:
    # An identity of one class writes below that class's root only.
    own = [of for of, one in _identities(project).items() if one.uid == os.geteuid()]
    root = project.namespace / own[0] if own else project.namespace
    try:
        with tempfile.NamedTemporaryFile(dir=_existing(root), prefix=".doctor-"):
            pass
    except OSError as error:
        return Finding(
            "root", "broken", f"{root} can't be written: {error.strerror}", "set AIFACTORY_ROOT to a folder of yours"
        )
    try:
        roots.check(project.namespace, project.lower)
    except FactoryError as error:
        return Finding("root", "broken", f"{error.what}{_found(error)}", error.fix)
    below = f", over {', '.join(map(str, project.lower))} (read only)" if project.lower else ""
    return Finding("root", "ok", f"{root}{below}")


def _identities(project: Project) -> Mapping[str, Identity]:
    from aifactory.namespace.identities import identities

    try:
        return identities(project)
    except FactoryError:
        return {}  # which the doctor says in a line of its own


def _stages(project: Project) -> Finding:
    from aifactory.datasets import find_stages
    from aifactory.spec import find_recipes

    stages, recipes = find_stages(project), find_recipes(project)
    return Finding("stages", "ok", f"{len(stages)} stages, {len(recipes)} recipes: {', '.join(sorted(recipes))}")


def _grants(project: Project) -> Finding:
    from aifactory.namespace import load_grants

    said = (f"{one.source} -> {one.target} ({one.why})" for one in load_grants(project))
    return Finding("grants", "ok", ", ".join(said) or "none: no project's data may flow into another's")


def _clusters(project: Project) -> Finding:
    from aifactory.launch.clusters.registry import load_clusters

    return Finding("clusters", "ok", ", ".join(load_clusters(project)))


def _sites(project: Project) -> Finding:
    from aifactory.launch.clusters.registry import load_clusters
    from aifactory.launch.sites.presence import seen
    from aifactory.launch.sites.registry import load_sites

    sites = load_sites(project)
    lost = {name: one.site for name, one in load_clusters(project).items() if one.site not in sites}
    if lost:
        text = ", ".join(f"{name} mounts the tree of {site}" for name, site in lost.items())
        return Finding("sites", "broken", f"no table in sites.toml: {text}", "describe the site (docs/sites.md)")
    # The tree of this machine is made by the first write into it.
    blind = [one for name, one in sites.items() if one.view != project.namespace and seen(one) is None]
    if blind:
        text = ", ".join(f"{one.name} ({one.view or 'no view'})" for one in blind)
        return Finding("sites", "warning", f"nobody here sees {text}", "mount its tree, and name it as its `view`")
    return Finding("sites", "ok", ", ".join(f"{name} ({one.view})" for name, one in sites.items()))


def _mirror() -> Finding:
    mirror = os.environ.get("AIFACTORY_MIRROR")
    if not mirror:
        return Finding("sources", "ok", "AIFACTORY_MIRROR is not set: archives come from their public repositories")
    if not Path(mirror).is_dir():
        fix = "set AIFACTORY_MIRROR to the folder that holds the archives, or unset it"
        return Finding("sources", "broken", f"AIFACTORY_MIRROR names no folder: {mirror}", fix)
    held = sorted(path.name for path in Path(mirror).iterdir() if path.is_file())
    return Finding("sources", "ok", f"mirror {mirror}: {', '.join(held) or 'empty'}")


def _restricted(project: Project) -> Finding:
    from aifactory.datasets.zone import KEY, KEY_FILE, load_secret, own_folders
    from aifactory.namespace.restricted import VARIABLE, open_zone

    if not any(os.environ.get(name) for name in (VARIABLE, KEY, KEY_FILE)):
        return Finding("restricted", "ok", f"{VARIABLE} is not set: nothing crosses from this machine")
    outside = own_folders(project)
    zone, secret = open_zone(".", outside=outside), load_secret(outside)
    return Finding("restricted", "ok", f"zone {zone.resolve()}, key {secret.id}")


def _git(project: Project) -> Finding:
    from aifactory.spec import git_facts

    facts = git_facts(project.root)
    if facts.commit is None:
        return Finding("git", "warning", "no commit: a run can't say which code made it", "git commit")
    if facts.dirty:
        text = f"{facts.commit[:12]} with uncommitted changes: runs stay on this machine"
        return Finding("git", "warning", text, "commit before you launch elsewhere")
    return Finding("git", "ok", facts.commit[:12])


def _services(project: Project) -> Finding:
    from aifactory.laptop.services import Services

    services = Services(project)
    recorded, running = services.state().services, services.running()
    if not running:
        return Finding("services", "ok", "Dagster is not running here (make ui starts it)")
    if len(running) < len(recorded):
        gone = ", ".join(one.name for one in recorded if not one.alive())
        return Finding("services", "warning", f"ended by itself: {gone}", "make ui starts it again")
    return Finding("services", "ok", f"Dagster runs at {services.address}")


def _guard(name: str, look: Callable[[], Finding], fix: str = "") -> Finding:
    try:
        return look()
    except FactoryError as error:
        return Finding(name, "broken", error.what + _found(error), error.fix or fix)


def _found(error: FactoryError) -> str:
    return f" ({error.found})" if error.found is not None else ""


def _existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.is_dir())
