"""Everything that can be run, on data that is nothing but canaries, and the Dagster that heard of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import pytest

from aifactory.channel import Audited, Failure, Note, Payload, Progress, Scored, StageBuilt
from aifactory.namespace import Audit, Audits
from aifactory.orchestrate.folders import defined
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.spec import get_recipe
from tests.faults.canary import CANARIES
from tests.faults.canary_lab import CHAIN, FAILING, GREEN_STAGES, RECIPE, data, fill, zone
from tests.jobs.world import World
from tests.orchestrate.lab import CHECKOUT, Lab, make

V = CANARIES[3]
KEY = "0123456789abcdef" * 4


@dataclass
class Ward:
    """A lab, and the storage and logs of its Dagster under `home`. `results` are Dagster's, by what was asked for."""

    lab: Lab
    access: str
    home: Path
    instance: dg.DagsterInstance
    results: dict[str, dg.ExecuteInProcessResult] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def key(self, name: str) -> str:
        return f"{self.access}/notes/{name}"

    def build(self, what: str, *names: str) -> None:
        self.results[what] = self.lab.materialize(self.instance, *map(self.key, names))

    def run(self, what: str, job: str, config: dict[str, object], run_id: str | None = None) -> None:
        self.results[what] = World(self.lab).run(self.instance, job, config, run_id=run_id)

    def tick(self, *names: str) -> None:
        """Evaluate sensors once."""
        for one in defined(CHECKOUT, "sensors", (dg.SensorDefinition,)):
            if one.name in names:
                tick = one.evaluate_tick(dg.build_sensor_context(instance=self.instance, definitions=None))
                self.said.append(str(tick))

    def failures(self, what: str) -> dict[str, str]:
        """What the failed steps told, by the stage or job."""
        found = {}
        for event in self.results[what].get_step_failure_events():
            data = event.step_failure_data.user_failure_data
            found[str(event.step_key).rpartition("__")[2]] = str(data.description if data else None)
        return found


@contextmanager
def ward(root: Path, access: str) -> Iterator[Ward]:
    """A new one, whose dataset `notes` is of this class."""
    home = root / "dagster"
    (root / "mirror").mkdir(parents=True)
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch, dg.DagsterInstance.local_temp(str(home)) as instance:
        patch.setenv("AIFACTORY_MIRROR", str(root / "mirror"))
        patch.setenv("AIFACTORY_RESTRICTED", str(root / "restricted"))
        patch.setenv("AIFACTORY_CROSSING_KEY", KEY)
        patch.delenv("AIFACTORY_CROSSING_KEY_FILE", raising=False)
        zone(root / "restricted")
        lab = make(root, patch)
        fill(lab, access, data(root / "mirror"))
        lab.write("recipes/small.py", RECIPE.replace("CLASS", access).replace("MODULE", access.replace("/", ".")))
        yield Ward(lab, access, home, instance)


def live(ward: Ward) -> None:
    """Run every asset, check, job and sensor, and every way to fail."""
    ward.build("chain", *CHAIN)
    ward.build("green", *GREEN_STAGES)
    ward.build("failing", *FAILING)
    ward.build("crossed", "crossed")
    ward.build("uncrossed", "uncrossed")
    ward.run("trained", "train", {"recipe": "small"})
    (saved,) = materializations(ward.instance, dg.AssetKey([*ward.access.split("/"), "models", "small", "checkpoints"]))
    ward.run("scored", "evaluate", {"checkpoint": str(value_of(saved, "checkpoint"))})
    for name in ("named", "quiz", "ready"):
        path = ward.lab.namespace.resolve(ward.key(name)).paths()[0]
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:-1] + b"X")
    ward.results["checked"] = ward.lab.check(ward.instance, ward.key("named"), "files")
    ward.run("untrained", "train", {"recipe": "small"})
    ward.run("unscored", "evaluate", {"checkpoint": str(value_of(saved, "checkpoint"))})
    of_an_older_image(ward)
    ward.run("refused", "train", {"recipe": "small"})
    ward.tick("journal_sync", "checkpoint_evaluation")


def of_an_older_image(ward: Ward) -> None:
    """What an image left that cut nothing: a training that failed, and red checks."""
    version = ward.lab.namespace.resolve(ward.key("ready")).version
    Audits(ward.lab.namespace, ward.key("ready"), version).add(
        Audit(check="not_empty", passed=False, counts={V: 1, "rows": 3}, reason=f"{CANARIES[1]}: {CANARIES[2]}")
    )
    world = World(ward.lab)
    run_id, name, planned = world.planned("train", "small", get_recipe("small"))
    key, text = ward.key("clean"), CANARIES[1]
    payloads: list[Payload] = [
        Note(text=text),
        Progress(text=f"building {key} {text}", unit=V, done=1),
        Audited(key=key, version="0", check="c", passed=False, blocking=True, counts={V: 1}, reason=text),
        StageBuilt(
            key="public/notes/clean",
            version="0" * 64,
            outcome="published",
            build_key="0",
            code_version="1",
            columns=[{"name": V, "type": f"struct<{V}: string>"}],
            metadata={"preview": [{"text": text}], "counts": {V: 1}, "file_names": {V: 1}},
        ),
        Scored(suite=text, key=key, scorer="s", metric=text, value=1, low=0, high=1, items=1, extra={text: 1.0}),
    ]
    error = Failure(type=f"{text}Error", text=text, trace=f"{text}\n  File {text}")
    world.ended(name, planned, payloads, error=error, private=False)
    ward.run("replayed", "train", {"recipe": "small"}, run_id=run_id)
