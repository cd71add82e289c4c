"""A factory of its own: this checkout's code in a git repository, with small datasets and a recipe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aifactory.channel import CheckpointSaved, Progress, Reader
from aifactory.laptop.graphql import ENDED, Client, wait
from aifactory.laptop.services import Services
from aifactory.launch import run_name
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import RunSpec
from tests.browser.conftest import CHECKOUT, environment
from tests.cli.conftest import Answer

COPIED = ("definitions", "docker", "jobs", "locks", "sensors", "src/aifactory")
FILES = ("clusters.toml", "images.toml", "pyproject.toml")
RUN_SECONDS = 240

TEXTS = """
from collections.abc import Iterator
from dataclasses import dataclass

from aifactory.datasets import dataset, split, tokenize{imports}


@dataclass(frozen=True)
class Text:
    text: str


@dataset(automation=False)
def raw() -> Iterator[Text]:
    for n in range({rows}):
        yield Text(f"word number {{n}}")


parts = split(raw, by="text", train=0.6, val=0.2, test=0.2)
"""
LETTERS = TEXTS.format(imports=", tokenizer", rows=40).replace(", tokenize,", ",") + (
    "bpe = tokenizer(parts, vocabulary=260)\n"
)
WORDS = TEXTS.replace("\n\n\n@dataclass", "\n\nfrom assets.public import letters\n\n\n@dataclass", 1) + (
    "ready = tokenize(parts, tokenizer=letters.bpe)\n"
)
RECIPE = """
from aifactory.spec import GPT, Batch, Mix, Train, recipe
from assets.public import words


@recipe(line="public/models/small")
def small() -> Train:
    return Train(
        model=GPT(layers=1, hidden=8, heads=1, context=8),
        mix=Mix.of({{words.ready: 1.0}}),
        steps={steps},
        batch=Batch(sequences=4),
    )
"""


def words(rows: int) -> str:
    """The dataset that moves: `rows` texts."""
    return WORDS.format(imports="", rows=rows)


def recipe(steps: int) -> str:
    return RECIPE.format(steps=steps)


@dataclass(frozen=True)
class Trained:
    """What a training came to: `checkpoints` are (step, digest), `losses` those of every step, `said` its words;
    `dagster` is the Dagster run that asked for it, if one did."""

    run: str
    directory: Path
    dagster: str = ""

    @property
    def spec(self) -> RunSpec:
        return RunSpec.load(self.directory / "spec.json")

    @property
    def checkpoints(self) -> list[tuple[int, str]]:
        return [(one.step, one.digest) for one in self._payloads() if isinstance(one, CheckpointSaved)]

    @property
    def losses(self) -> list[float]:
        lines = (self.directory / "attempts" / "00000001" / "metrics.jsonl").read_text().splitlines()
        return [json.loads(line)["loss"] for line in lines]

    @property
    def said(self) -> list[str]:
        return [one.text for one in self._payloads() if isinstance(one, Progress)]

    def _payloads(self) -> list[Any]:
        return [message.payload for message in Reader(self.directory / "attempts" / "00000001").new()]


class Factory:
    """The repository under `project`; state, environments and namespace stand beside it."""

    def __init__(self, root: Path):
        self.root, self.project = root, root / "project"
        for folder in COPIED:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(CHECKOUT / folder, self.project / folder, ignore=ignored)
        for file in FILES:
            shutil.copy(CHECKOUT / file, self.project)
        self.write("assets/public/letters.py", LETTERS)
        self.write("assets/public/words.py", words(60))
        self.write("recipes/small.py", recipe(steps=2))
        self._borrow_environments()
        self.environment = {
            "AIFACTORY_PROJECT": str(self.project),
            "AIFACTORY_STATE": str(root / "state"),
            "AIFACTORY_ENVS": str(root / "envs"),
            "AIFACTORY_ROOT": str(root / "namespace"),
        }
        self.git("init", "--quiet")
        self.commit("Words, and a small model of them")

    def _borrow_environments(self) -> None:
        """Those that are there serve; what a test's own lock makes stays with the test."""
        shared = Path(os.environ.get("AIFACTORY_ENVS") or CHECKOUT / ".aifactory" / "envs")
        (self.root / "envs").mkdir()
        for one in shared.iterdir():
            if not one.name.startswith("."):
                (self.root / "envs" / one.name).symlink_to(one)

    @property
    def namespace(self) -> Namespace:
        return Namespace(self.root / "namespace")

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name: str, before: str, after: str) -> None:
        text = (self.project / name).read_text()
        assert text.count(before) == 1, f"{name} holds {before!r} {text.count(before)} times"
        self.write(name, text.replace(before, after))

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=ada", "-c", "user.email=ada@lab.invalid", "-c", "core.hooksPath=/dev/null")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.project, env=kept, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def __call__(self, *arguments: str) -> Answer:
        """`aifactory <arguments>`, by the code that the repository holds now."""
        done = subprocess.run(
            [sys.executable, "-m", "aifactory.cli", *arguments],
            env=os.environ | self.environment | {"PYTHONPATH": str(self.project / "src")},
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def serve(self) -> Iterator[Client]:
        """Without the daemon: what happens is what a test asked for."""
        with environment(self.environment):
            project = Project(
                root=self.project,
                state=self.root / "state",
                envs=self.root / "envs",
                namespace=self.root / "namespace",
                package=self.project / "src" / "aifactory",
            )
            services = Services(project)
            try:
                yield services.start(daemon=False)[0]
            finally:
                services.stop()

    def trained(self, client: Client, dagster: str) -> Trained:
        """Wait until this Dagster run has trained."""
        assert ended(client, dagster) == "SUCCESS", failures(client, dagster)
        return self.run_of(dagster)

    def run_of(self, dagster: str) -> Trained:
        """The run that this Dagster run asks for."""
        run = run_name("train", "small", f"{dagster}/train")
        return Trained(run, self.namespace.root / "public" / "runs" / run, dagster)


def ended(client: Client, run: str) -> str:
    """How the Dagster run ended."""
    wait(f"the end of {run}", RUN_SECONDS, lambda: client.run(run)["status"] in ENDED)
    return str(client.run(run)["status"])


def failures(client: Client, run: str) -> list[str]:
    return [event.error for event in client.events(run)[0] if event.error]


def log(client: Client, run: str) -> str:
    """What the Dagster run has said."""
    return "\n".join(event.message for event in client.events(run)[0])
