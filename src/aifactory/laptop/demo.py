"""`make demo`: datasets, checks, training, evaluations by the sensor, results; through Dagster, as a person would."""

from __future__ import annotations

import time
from contextlib import suppress

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from aifactory.datasets import Stage, find_stages
from aifactory.errors import FactoryError
from aifactory.laptop import tables
from aifactory.laptop.events import Event
from aifactory.laptop.freshness import by_itself, stale, upstream
from aifactory.laptop.graphql import Client
from aifactory.laptop.results import Training, find_training, log_of
from aifactory.laptop.services import Services
from aifactory.laptop.watch import Followed, Watch
from aifactory.launch import plan
from aifactory.launch.images.copies import ensure_image
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Recipe, find_recipes

POLL_SECONDS = 1.0
EVALUATION_SECONDS = 300
LAST_SECONDS = 30
TRAIN_JOB, EVALUATE_JOB = "train", "evaluate"
REQUESTER = {"factory/requester": "person:demo"}


class Demo:
    """One demonstration. Services that it finds running are left running; those that it starts end with it."""

    def __init__(self, project: Project, services: Services, console: Console, *, recipe: str, keep: bool = False):
        self.project, self.services, self.console, self.keep = project, services, console, keep
        self.ns = Namespace.of(project)
        self.stages: dict[str, Stage] = find_stages(project)
        self.recipe = self._recipe(recipe)
        used = (*self.recipe.build().mix.keys, *self.recipe.suites)
        self.needed = upstream(self.stages, used)
        self.others = [key for key in by_itself(self.stages) if key not in self.needed]
        self.mine = services.address is None
        self.began = time.monotonic()

    def run(self) -> int:
        """0: every checkpoint of the recipe is trained and scored; 1: not, and the console says why."""
        training = self._finished()
        if training is not None and not stale(self.ns, self.stages, self.needed):
            self.console.print("Nothing to do: the datasets are current, the recipe is trained and evaluated.")
            self._show(training)
            return 0
        try:
            with self.console.status("starting") as status:
                code = self._all(status)
        finally:
            if self.mine and not self.keep:
                with self.console.status("ending what was started"):
                    self.services.stop()
        return code

    def _recipe(self, name: str) -> Recipe:
        known = find_recipes(self.project)
        if name not in known:
            raise FactoryError(f"there is no recipe {name!r}", expected=", ".join(sorted(known)), code="unknown_recipe")
        return known[name]

    def _finished(self) -> Training | None:
        """The recipe's training as the checkout stands now, if it is there with all its scores."""
        with suppress(FactoryError):
            training = find_training(self.ns, plan(self.recipe, project=self.project, ns=self.ns).hash)
            return training if training is not None and training.complete else None
        return None

    def _all(self, status: Status) -> int:
        for name in ("data", "train"):
            ensure_image(self.project, name, say=status.update)
        # The runs first, then the daemon: its automation then sees them in progress, and does not start the same ones.
        client, _ = self.services.start(status.update, daemon=False)
        watch = Watch(client)
        needed = self._materialize(client, watch, self.needed)
        others = self._materialize(client, watch, self.others)
        self.services.start(status.update)
        self.console.print(f"Dagster's UI, while this runs: [bold]{client.address}[/]")
        if not self._built(watch, status, needed):
            return 1
        training = self._finished()
        if training is None and not self._trained(client, watch, status):
            return 1
        self._rest(watch, status, others)
        training = find_training(self.ns, plan(self.recipe, project=self.project, ns=self.ns).hash)
        if training is None:
            self.console.print("[red]the training ended, and its records name no succeeded run[/]")
            return 1
        status.stop()
        self._show(training)
        return 0 if training.complete else 1

    def _materialize(self, client: Client, watch: Watch, keys: list[str]) -> Followed | None:
        wanted = stale(self.ns, self.stages, keys)
        if not wanted:
            return None
        return watch.add(client.materialize(wanted, REQUESTER))

    def _built(self, watch: Watch, status: Status, run: Followed | None) -> bool:
        if run is None:
            self.console.print("The recipe's datasets are current: nothing to build.")
            return True
        while not run.ended:
            self._poll(watch, status)
        return self._good(run, "the datasets could not be built")

    def _trained(self, client: Client, watch: Watch, status: Status) -> bool:
        """Train (unless a training waits only for its scores), and follow the evaluations that the sensor starts."""
        present = find_training(self.ns, plan(self.recipe, project=self.project, ns=self.ns).hash)
        if present is None:
            config = {"ops": {"train": {"config": {"recipe": self.recipe.name}}}}
            run = watch.add(client.launch_job(TRAIN_JOB, config, REQUESTER))
            while not run.ended:
                self._evaluations(client, watch)
                self._poll(watch, status)
            if not self._good(run, f"the training of {self.recipe.name} failed"):
                return False
        else:
            self.console.print(f"{present.run} is trained already: waiting for its evaluations.")
        until = time.monotonic() + EVALUATION_SECONDS
        while time.monotonic() < until:
            self._evaluations(client, watch)
            self._poll(watch, status)
            training = find_training(self.ns, plan(self.recipe, project=self.project, ns=self.ns).hash)
            if training is not None and training.complete:
                # The records have the last score before Dagster's run has told it.
                for one, event in watch.settle(EVALUATE_JOB, LAST_SECONDS):
                    self._tell(one, event, status)
                return True
            mine = [one for one in watch.runs.values() if one.job == EVALUATE_JOB]
            if training is not None and len(mine) >= len(training.checkpoints) and all(one.ended for one in mine):
                break
        bad = [one for one in watch.runs.values() if one.job == EVALUATE_JOB and one.status != "SUCCESS"]
        for one in bad:
            self._good(one, "an evaluation did not succeed")
        if not bad:
            self.console.print("[red]evaluations are missing[/]: look at the sensor checkpoint_evaluation in the UI")
        return False

    def _evaluations(self, client: Client, watch: Watch) -> None:
        for run in client.runs(job=EVALUATE_JOB, limit=20):
            if run["creationTime"] >= time.time() - (time.monotonic() - self.began):
                watch.add(run["runId"])

    def _rest(self, watch: Watch, status: Status, run: Followed | None) -> None:
        """Datasets that the recipe does not need: built when their sources are reachable, named when not."""
        while run is not None and not run.ended:
            self._poll(watch, status)
        if run is not None and run.status != "SUCCESS":
            self._good(run, "going on without a dataset that the recipe does not need", style="yellow")

    def _poll(self, watch: Watch, status: Status) -> None:
        for run, event in watch.poll():
            self._tell(run, event, status)
        time.sleep(POLL_SECONDS)

    def _tell(self, run: Followed, event: Event, status: Status) -> None:
        values = event.metadata
        if event.kind == "ExecutionStepStartEvent":
            what = (event.step or run.job).replace("__", "/")
            status.update(f"{what} ...")
        elif event.kind == "LogMessageEvent":
            line = event.message.strip().splitlines()[-1] if event.message.strip() else ""
            status.update(escape(f"{(event.step or run.job).replace('__', '/')}: {line[:100]}"))
        elif event.kind == "MaterializationEvent" and event.asset in self.stages:
            rows = values.get("dagster/row_count")
            said = f"{rows:,} rows" if isinstance(rows, int) else ""
            self._line("built", event.asset, f"{said:>14}  version {str(values.get('version'))[:16]}")
        elif event.kind == "MaterializationEvent" and "loss" in values:
            reference = values.get("unigram_loss")
            beside = f" (unigram {reference:.3f})" if isinstance(reference, float) else ""
            self._line("saved", f"checkpoint at step {values.get('step')}", f"loss {values['loss']:.3f}{beside}")
        elif event.kind == "MaterializationEvent" and run.job == EVALUATE_JOB:
            scores = [
                f"{name} {value:.3f} ({values[name + ' low']:.3f} to {values[name + ' high']:.3f})"
                for name, value in values.items()
                if isinstance(value, float) and f"{name} low" in values
            ]
            self._line("scored", f"checkpoint at step {values.get('step')}", ", ".join(scores))
        elif event.kind == "AssetCheckEvaluationEvent" and event.passed is False:
            self._line("red", str(event.asset), f"check {event.check}", style="red")

    def _line(self, verb: str, what: str, text: str, style: str = "green") -> None:
        seconds = time.monotonic() - self.began
        self.console.print(f"[dim]{seconds:5.0f} s[/]  [{style}]{verb:7}[/] {escape(what):34} {escape(text)}")

    def _good(self, run: Followed, what: str, style: str = "red") -> bool:
        if run.status == "SUCCESS":
            return True
        log = log_of(self.ns, run.id)
        self.console.print(f"[{style}]{what}[/]: {escape(run.error or run.status)}")
        self.console.print(f"  Dagster run {run.id}" + (f", log {log}" if log else ""))
        return False

    def _show(self, training: Training) -> None:
        self.console.print()
        self.console.print(tables.datasets(self.ns, [*self.needed, *self.others]))
        self.console.print()
        self.console.print(tables.checkpoints(training))
        self.console.print()
        # Those that were there before stay, and so do ours if they are to be kept.
        stays = self.services.address if self.keep or not self.mine else None
        address = f"at {stays}" if stays else "with `make ui`"
        self.console.print(f"Took {time.monotonic() - self.began:.0f} s. Records: {self.ns.root}")
        self.console.print(f"Look at it in Dagster's UI {address}, or ask for the records:")
        self.console.print("  aifactory runs                              what ran, and how it went")
        self.console.print(f"  aifactory versions {self.needed[0]:24} what made each version")
        self.console.print(f"  aifactory plan {self.recipe.name} steps=600               what a variant would be")
        self.console.print("Add a dataset: docs/add-a-dataset.md")
