"""A project whose data image does whatever a test's spec says: real images, environments and processes, no datasets."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from aifactory.launch import Plan
from aifactory.launch.images.copies import ensure_image
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Build, Context, ImageRef, InputRef, RunSpec, freeze

PROBE = '''
"""A kind whose work is one function of assets/probe.py."""

import importlib


def execute(job):
    module, _, name = job.spec.build.function.partition(":")
    getattr(importlib.import_module(module), name)(job, **job.spec.build.parameters)
'''

FUNCTIONS = '''
"""What an attempt can do to its launcher."""

import os
import subprocess
import sys
import time
from pathlib import Path

from aifactory.channel import Note, Progress


def say(job, text="hello"):
    print("a line of the log")
    job.writer.send(Note(text=text))


def wait(job, seconds=60.0, file=""):
    job.writer.send(Note(text="waiting"))
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (file and Path(file).exists()):
        time.sleep(0.05)
    job.writer.send(Note(text="done"))


def fail(job, text="patient 4711 is not a number", below=99):
    if job.attempt < below:
        raise ValueError(text)
    job.writer.send(Note(text="this time it worked"))


def flood(job, lines=200_000):
    for number in range(lines):
        print(f"{number:08d}", "x" * 100)
    print("the end of the flood")
    job.writer.send(Note(text="flooded"))


def family(job, pids=""):
    """Children in the session, in another process group, and in a session of their own; none obeys SIGTERM."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    children = [
        subprocess.Popen([sys.executable, "-c", code]),
        subprocess.Popen([sys.executable, "-c", code], process_group=0),
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True),
    ]
    Path(pids).write_text(" ".join(str(child.pid) for child in children))
    time.sleep(600)


def deaf(job):
    """Obeys neither SIGTERM nor a stop command."""
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    job.writer.send(Note(text="deaf"))
    time.sleep(600)


def linger(job):
    job.writer.send(Note(text="lingering"))
    for number in range(10):
        job.writer.send(Progress(text="so far", done=number, total=9))
    time.sleep(600)


def silent(job):
    time.sleep(600)


def vanish(job):
    job.writer.send(Progress(text="so far", done=1, total=2))
    print("last words", flush=True)
    os.kill(os.getpid(), 9)
'''


class Lab:
    """A namespace, a project and its data image. `environment` lets another process find all three."""

    def __init__(self, root: Path, ns: Namespace):
        here = Project.current()
        self.ns = ns
        self.project = Project(
            root=root,
            state=root / ".aifactory",
            envs=here.envs,
            namespace=ns.root,
            package=root / "src" / "aifactory",
        )
        if not root.exists():
            self._make(here)
        self.image = ensure_image(self.project, "data")

    def _make(self, here: Project) -> None:
        root = self.project.root
        shutil.copytree(here.package, self.project.package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(here.root / "locks", root / "locks")
        shutil.copyfile(here.root / "clusters.toml", root / "clusters.toml")
        self.write("src/aifactory/build/__init__.py", PROBE)
        self.write("assets/probe.py", FUNCTIONS)

    def write(self, relative: str, text: str) -> None:
        path = self.project.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def remake(self) -> None:
        """Make the image anew, after `write`."""
        self.image = ensure_image(self.project, "data")

    def plan(
        self,
        function: str,
        *,
        key: str = "public/probe/out",
        module: str = "assets.probe",
        context: dict[str, object] | None = None,
        inputs: Sequence[tuple[str, str, str]] = (),
        **parameters: object,
    ) -> Plan:
        """A frozen build whose work is that function of the probe."""
        spec = RunSpec(
            kind="build",
            config=Build(
                key=key,
                kind="table",
                function=f"{module}:{function}",
                code_version="1",
                access=key.rpartition("/")[0] if key.startswith("private") else "public",
                parameters=parameters,
            ),
            inputs=tuple(InputRef(role=role, kind="dataset", key=name, version=at) for role, name, at in inputs),
            image=ImageRef(name="data", digest=self.image.digest),
        )
        known = Context.model_validate({"commit": "0" * 40, "root": str(self.ns.root), **(context or {})})
        path = freeze(self.ns, spec, known.resolution(), grants=known.grants)
        return Plan(spec, known, spec.hash, path, function)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "AIFACTORY_PROJECT": str(self.project.root),
            "AIFACTORY_STATE": str(self.project.state),
            "AIFACTORY_ENVS": str(self.project.envs),
            "AIFACTORY_ROOT": str(self.ns.root),
        }
