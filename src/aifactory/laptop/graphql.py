"""Dagster's web server, asked as its own UI asks it."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aifactory.errors import FactoryError
from aifactory.laptop import queries
from aifactory.laptop.events import Event, error_of, event_of, metadata_of
from aifactory.launch.scope import LOCATION

ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})
ACTIVE = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")
PAUSE_SECONDS = 0.5


class Client:
    """One web server. Methods raise FactoryError: code "dagster" for what it refuses, "unreachable" without it."""

    def __init__(self, address: str, location: str = LOCATION):
        self.address, self.location = address.rstrip("/"), location
        self._repository: dict[str, str] | None = None

    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        """Send one document and return its `data`."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.address}/graphql", body, {"Content-Type": "application/json", "Accept": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")[:2000]
            raise FactoryError("the web server refused a query", found=f"{error.code} {text}", code="dagster") from None
        except (OSError, ValueError) as error:
            raise FactoryError(
                f"Dagster's web server at {self.address} does not answer",
                found=error,
                fix="make ui",
                code="unreachable",
            ) from None
        if answer.get("errors"):
            raise FactoryError("the web server refused a query", found=answer["errors"][0]["message"], code="dagster")
        return dict(answer["data"])

    def field(self, query: str, name: str, *good: str, **variables: object) -> dict[str, Any]:
        """One top-level field, whose type must be one of `good`."""
        answer = dict(self.ask(query, **variables)[name])
        if good and answer["__typename"] not in good:
            lines = [answer.get("message", "").strip(), *(error["message"] for error in answer.get("errors", ()))]
            raise FactoryError(
                f"Dagster answered {name} with {answer['__typename']}",
                found="\n    ".join(filter(None, lines)) or None,
                code="dagster",
            )
        return answer

    def load_error(self) -> str | None:
        """Why the code location is not there; None when it is loaded."""
        workspace = self.field(queries.LOCATIONS, "workspaceOrError", "Workspace")
        for entry in workspace["locationEntries"]:
            loaded = entry["locationOrLoadError"]
            if entry["name"] == self.location and loaded is not None:
                return None if loaded["__typename"] == "RepositoryLocation" else error_of(loaded)
        return f"no code location {self.location}"

    def repository(self) -> dict[str, str]:
        """The selector of the location's repository."""
        if self._repository is None:
            workspace = self.field(queries.LOCATIONS, "workspaceOrError", "Workspace")
            for entry in workspace["locationEntries"]:
                loaded = entry["locationOrLoadError"] or {}
                if entry["name"] == self.location and loaded.get("repositories"):
                    name = loaded["repositories"][0]["name"]
                    self._repository = {"repositoryName": name, "repositoryLocationName": self.location}
                    return self._repository
            raise FactoryError("the code location is not loaded", found=self.load_error(), code="dagster")
        return self._repository

    def reload(self) -> None:
        """What the UI's "Reload" does: the code server imports the files again."""
        answer = self.field(
            queries.RELOAD, "reloadRepositoryLocation", "WorkspaceLocationEntry", location=self.location
        )
        loaded = answer["locationOrLoadError"] or {}
        if loaded.get("__typename") == "PythonError":
            # Two different things: definitions that raise, and a code server that isn't there yet.
            absent = "UserCodeUnreachable" in loaded["message"]
            raise FactoryError(
                "the code server does not answer" if absent else "the definitions do not load",
                found=error_of(loaded),
                fix="" if absent else "mend the file that it names, and reload",
                code="unreachable" if absent else "definitions",
            )

    def launch_job(self, job: str, config: Mapping[str, object], tags: Mapping[str, str] | None = None) -> str:
        """Launch a job as its Launchpad does; the Dagster run's id."""
        return self._launch({"jobName": job, **self.repository()}, config, tags or {})

    def materialize(self, keys: Sequence[str], tags: Mapping[str, str] | None = None) -> str:
        """The "Materialize" button on these assets, with their checks; the Dagster run's id."""
        paths = [{"path": key.split("/")} for key in keys]
        nodes = self.ask(queries.ASSET_JOBS, keys=paths)["assetNodes"]
        known = {"/".join(node["assetKey"]["path"]): node for node in nodes}
        missing = [key for key in keys if key not in known]
        if missing:
            raise FactoryError("no such asset in the code location", found=", ".join(missing), code="dagster")
        jobs = set.intersection(*(set(node["jobNames"]) for node in known.values()))
        hidden = sorted(job for job in jobs if job.startswith("__ASSET_JOB"))
        selector = {"jobName": hidden[0] if hidden else sorted(jobs)[0], **self.repository(), "assetSelection": paths}
        return self._launch(selector, {}, tags or {})

    def _launch(self, selector: Mapping[str, object], config: Mapping[str, object], tags: Mapping[str, str]) -> str:
        params = {
            "selector": selector,
            "runConfigData": config,
            "mode": "default",
            "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in tags.items()]},
        }
        answer = self.field(queries.LAUNCH, "launchRun", "LaunchRunSuccess", params=params)
        return str(answer["run"]["runId"])

    def run(self, run_id: str) -> dict[str, Any]:
        """`runId jobName status startTime endTime tags`."""
        return _tagged(self.field(queries.RUN, "runOrError", "Run", id=run_id))

    def runs(self, *, statuses: Sequence[str] = (), job: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """The newest runs first."""
        wanted: dict[str, object] = {}
        if statuses:
            wanted["statuses"] = list(statuses)
        if job:
            wanted["pipelineName"] = job
        answer = self.field(queries.RUNS, "runsOrError", "Runs", filter=wanted, limit=limit)
        return [_tagged(run) for run in answer["results"]]

    def events(self, run_id: str, cursor: str | None = None) -> tuple[list[Event], str | None]:
        """The run's events after `cursor`, and the cursor for the next call."""
        found: list[Event] = []
        while True:
            page = self.field(queries.EVENTS, "logsForRun", "EventConnection", id=run_id, cursor=cursor)
            found += map(event_of, page["events"])
            cursor = page["cursor"] or cursor
            if not page["hasMore"]:
                return found, cursor

    def follow(self, run_id: str, pause: float = PAUSE_SECONDS) -> Iterator[Event]:
        """The run's events as they come, until it has ended."""
        cursor: str | None = None
        while True:
            ended = self.run(run_id)["status"] in ENDED
            events, cursor = self.events(run_id, cursor)
            yield from events
            if ended:
                return
            time.sleep(pause)

    def terminate(self, run_ids: Sequence[str], *, force: bool = False) -> None:
        """Ask the runs to end; `force` only marks them as ended."""
        policy = "MARK_AS_CANCELED_IMMEDIATELY" if force else "SAFE_TERMINATE"
        self.field(queries.TERMINATE, "terminateRuns", "TerminateRunsResult", ids=list(run_ids), policy=policy)

    def materializations(self, key: str, limit: int = 100) -> list[dict[str, Any]]:
        """The asset's newest materializations first, each with `runId timestamp tags metadata`."""
        path = {"path": key.split("/")}
        answer = self.field(
            queries.MATERIALIZATIONS, "assetOrError", "Asset", "AssetNotFoundError", key=path, limit=limit
        )
        found = answer.get("assetMaterializations") or []
        return [_tagged(one) | {"metadata": metadata_of(one["metadataEntries"])} for one in found]

    def sensors(self) -> dict[str, dict[str, Any]]:
        """By name: `status` (RUNNING or STOPPED), `id`, `tick` (its last one or None)."""
        answer = self.field(queries.SENSORS, "sensorsOrError", "Sensors", repository=self.repository())
        return {
            sensor["name"]: {
                "status": sensor["sensorState"]["status"],
                "id": sensor["sensorState"]["id"],
                "tick": next(iter(sensor["sensorState"]["ticks"]), None),
            }
            for sensor in answer["results"]
        }

    def switch(self, sensor: str, on: bool) -> None:
        """Turn a sensor on or off."""
        if on:
            self.field(
                queries.START_SENSOR, "startSensor", "Sensor", selector={**self.repository(), "sensorName": sensor}
            )
        else:
            self.field(queries.STOP_SENSOR, "stopSensor", "StopSensorMutationResult", id=self.sensors()[sensor]["id"])

    def daemons(self) -> dict[str, bool]:
        """Which of the daemons that are needed are healthy."""
        found = self.ask(queries.DAEMONS)["instance"]["daemonHealth"]["allDaemonStatuses"]
        return {one["daemonType"]: bool(one["healthy"]) for one in found if one["required"]}


def wait(what: str, seconds: float, ready: Callable[[], bool], pause: float = PAUSE_SECONDS) -> None:
    """Ask `ready` until it says yes. FactoryError (code "timeout") after `seconds`."""
    until = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > until:
            raise FactoryError(f"{what} did not happen within {seconds:.0f} s", code="timeout")
        time.sleep(pause)


def _tagged(found: dict[str, Any]) -> dict[str, Any]:
    return found | {"tags": {tag["key"]: tag["value"] for tag in found.get("tags") or ()}}
