"""What is kept of an attempt: all that there is, within bounds, whatever fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aifactory.errors import FactoryError
from aifactory.launch.kuberay import Names
from aifactory.launch.kuberay.evidence import collect
from aifactory.launch.kuberay.evidence.collect import ALL_BYTES, LOG_BYTES
from aifactory.launch.kuberay.observe import observe
from aifactory.launch.kuberay.wire.kinds import Kind
from aifactory.launch.runs.incident import FOLDER, Incident
from tests.launch.kuberay.observe.recorded import recorded

NAMES = Names("train-tiny-0123456789ab", 2)
CANARY = "Canary 4711"
AT, OBJECTS = recorded("oom_head_at_once")


class Server:
    """The objects of a recorded state, and a log for each container; `broken` are the plurals that raise."""

    def __init__(self, *, broken: tuple[str, ...] = (), log: bytes = b"", error: Exception | None = None):
        self.broken, self.log = broken, log
        self.error = error or FactoryError("no answer", code="unreachable")
        self.asked: list[str] = []

    def get(self, kind: Kind, name: str) -> dict[str, Any] | None:
        self._asked(kind.plural)
        return OBJECTS["rayjob"] if kind.plural == "rayjobs" else {"metadata": {"name": name}}

    def list(self, kind: Kind, labels: Mapping[str, str] | str | None = None, fields: str = "") -> list[dict[str, Any]]:
        self._asked(kind.plural)
        said = {"involvedObject": {"kind": "Pod", "name": f"{NAMES.job}-head"}, "reason": "Failed", "message": CANARY}
        pods = recorded("oom_worker_at_once")[1]["pods"]
        return {"pods": pods, "events": [*OBJECTS["events"], said]}.get(kind.plural, [])

    def logs(self, pod: str, container: str | None = None, **asked: Any) -> bytes | None:
        self._asked("logs")
        return self.log

    def _asked(self, what: str) -> None:
        self.asked.append(what)
        if what in self.broken:
            raise self.error


def kept(server: Server, path: Path, *, private: bool = False, **more: Any) -> Incident | None:
    return collect(server, NAMES, path, observe(**OBJECTS, now=AT), cluster="lab", private=private, **more)


def test_all_of_it_is_kept(tmp_path: Path) -> None:
    incident = kept(Server(log=b"line\n"), tmp_path)
    assert incident is not None
    assert incident == Incident.load(tmp_path)
    assert not incident.missing
    names = {path.name for path in (tmp_path / FOLDER).iterdir()}
    assert {"manifest.json", "rayjob.json", "raycluster.json", "pods.json", "events.json", "incident.json"} < names
    assert {one.name for one in incident.files} | {"incident.json"} == names
    logs = [one.log for one in incident.containers if one.log]
    assert logs
    assert all((tmp_path / FOLDER / name).read_bytes() == b"line\n" for name in logs)
    manifest = json.loads((tmp_path / FOLDER / "manifest.json").read_text())
    assert manifest["spec"] == OBJECTS["rayjob"]["spec"]
    assert "status" not in manifest
    assert any(one.message for one in incident.events)


def test_nothing_that_a_container_or_an_event_said_is_in_the_summary_of_a_private_run(tmp_path: Path) -> None:
    incident = kept(Server(log=CANARY.encode()), tmp_path, private=True)
    assert incident is not None
    assert CANARY not in incident.model_dump_json()
    assert CANARY in (tmp_path / FOLDER / "events.json").read_text(), "whoever may read the directory finds it there"
    assert any(one.reason == "Failed" and not one.message for one in incident.events)


def test_a_flood_is_cut_to_its_end(tmp_path: Path) -> None:
    incident = kept(Server(log=b"x" * LOG_BYTES + b"the end"), tmp_path)
    assert incident is not None
    cut = [one for one in incident.files if one.cut]
    assert cut
    assert all(one.bytes == LOG_BYTES for one in cut)
    assert (tmp_path / FOLDER / cut[0].name).read_bytes().endswith(b"the end")
    assert sum(one.bytes for one in incident.files) <= ALL_BYTES


@pytest.mark.parametrize("broken", ["rayjobs", "rayclusters", "pods", "events", "logs"])
@pytest.mark.parametrize("error", [FactoryError("no", code="server"), ValueError("no JSON"), TimeoutError()])
def test_what_could_not_be_had_is_named_and_the_rest_is_kept(tmp_path: Path, broken: str, error: Exception) -> None:
    incident = kept(Server(broken=(broken,), log=b"line\n", error=error), tmp_path)
    assert incident is not None
    assert incident.missing
    assert (incident.outcome, incident.code) == (observe(**OBJECTS, now=AT).outcome or "lost", incident.code)
    assert Incident.load(tmp_path) == incident


def test_nothing_more_is_asked_once_the_time_is_over(tmp_path: Path) -> None:
    server = Server(log=b"line\n")
    incident = kept(server, tmp_path, seconds=-1)
    assert incident is not None
    assert server.asked == []
    assert "the pods: no time was left" in incident.missing


def test_no_room_is_no_error(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file where the folder would be")
    assert kept(Server(log=b"line\n"), tmp_path) is None
    assert Incident.load(tmp_path) is None


def test_a_second_collection_leaves_the_first_as_it_is(tmp_path: Path) -> None:
    first = kept(Server(log=b"first\n"), tmp_path)
    kept(Server(log=b"second\n"), tmp_path)
    assert Incident.load(tmp_path) == first
    assert all(b"second" not in path.read_bytes() for path in (tmp_path / FOLDER).iterdir())


def test_a_damaged_summary_is_no_summary(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "incident.json").write_text('{"run": 7}')
    assert Incident.load(tmp_path) is None
