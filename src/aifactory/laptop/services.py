"""The Dagster of this checkout: code server, daemon and web server, found again by whoever comes next."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from aifactory.errors import FactoryError
from aifactory.laptop import ports, processes
from aifactory.laptop.graphql import ACTIVE, Client, wait
from aifactory.laptop.service import Name, Service, command, path_with_scripts
from aifactory.launch.scope import LOCATION, VARIABLE, Scope
from aifactory.namespace import Namespace
from aifactory.project import Project

UI_PORT = 3000
UI_PORT_VARIABLE = "AIFACTORY_UI_PORT"
START_SECONDS = 120
CANCEL_SECONDS = 25

Say = Callable[[str], None]


class State(BaseModel):
    """`.aifactory/services.json`: ports are kept after the services end, so that bookmarks stay good.
    `location` is the name of the code location that they serve."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    ports: dict[str, int] = {}
    location: str = LOCATION
    services: tuple[Service, ...] = ()


class Services:
    """Starts, finds and ends the services of one checkout. Only one process at a time starts or ends them."""

    def __init__(self, project: Project):
        self.project = project
        self.file = project.state / "services.json"
        self.home = project.state / "dagster"
        # A project may be a folder of datasets and recipes only, served by the checkout of the machinery.
        own = (project.root / "definitions").is_dir()
        self.code = project.root if own else project.package.parents[1]

    @property
    def address(self) -> str | None:
        """Where the UI is, or None when the web server isn't running."""
        state = self.state()
        running = any(service.name == "web server" and service.alive() for service in state.services)
        return f"http://{ports.HOST}:{state.ports['ui']}" if running else None

    def state(self) -> State:
        """What was started last; empty for a file that is missing or from another version."""
        try:
            return State.model_validate_json(self.file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return State()

    def running(self) -> list[Service]:
        """The services that live now."""
        return [service for service in self.state().services if service.alive()]

    def client(self) -> Client:
        """A client of the running web server. FactoryError (code "unreachable") when there is none."""
        address = self.address
        if address is None:
            raise FactoryError("Dagster is not running here", fix="make ui", code="unreachable")
        return Client(address, self.state().location)

    def start(self, say: Say = lambda text: None, *, daemon: bool = True) -> tuple[Client, bool]:
        """Start what isn't running, wait until it answers, and say whether all of it was there already.

        Without the daemon nothing starts by itself: a later call with it brings sensors and automation to life.
        """
        wanted: tuple[Name, ...] = ("code server", "daemon", "web server") if daemon else ("code server", "web server")
        with self._alone():
            state = self.state()
            alive = {service.name: service for service in state.services if service.alive()}
            self.one_location(state, alive)
            found = alive.keys() >= set(wanted)
            if not found:
                self._prepare(state, alive, wanted, say)
                state = self.state()
            client = Client(f"http://{ports.HOST}:{state.ports['ui']}", state.location)
            self._ready(client)
            return client, found

    def one_location(self, state: State, alive: Mapping[Name, Service]) -> None:
        """Refuse to serve a second location with the services of a first one."""
        wanted = Scope.current()
        if alive and state.location != wanted.location:
            raise FactoryError(
                "the services of this checkout serve another code location",
                found=state.location,
                expected=wanted.location,
                fix=f"make down, or set {VARIABLE} as it was when they were started",
                code="other_location",
            )

    def _prepare(self, state: State, alive: dict[Name, Service], wanted: tuple[Name, ...], say: Say) -> None:
        numbers, location = self._ports(state, alive), Scope.current().location
        self._configure(numbers["code"], location)
        port_of = {"code server": numbers["code"], "web server": numbers["ui"]}
        for name in wanted:
            if name in alive:
                continue
            port = port_of.get(name, 0)
            say(f"starting the {name}")
            start = command(name, self.code, self.home / "workspace.yaml", port, location)
            log = logs(self.project) / f"{name.replace(' ', '-')}.log"
            alive[name] = Service.start(name, start, self._environment(), self.code, log)
            self._write(State(ports=numbers, location=location, services=tuple(alive.values())))
            if name == "code server":
                # The daemon looks for a code server that it missed only once a minute.
                self._until("the code server's start", alive[name], lambda: ports.answers(numbers["code"]))
        web = alive["web server"]
        self._until("the web server's start", web, lambda: ports.answers(numbers["ui"]))

    def _ports(self, state: State, alive: dict[Name, Service]) -> dict[str, int]:
        died = {service.name for service in state.services} - alive.keys()
        for name, place in (("web server", "ui"), ("code server", "code")):
            if name in died:
                ports.await_free(state.ports[place])
        asked = os.environ.get(UI_PORT_VARIABLE)
        if asked is not None and not (asked.isdigit() and 0 < int(asked) < 65536):
            raise FactoryError(f"{UI_PORT_VARIABLE} is no port", found=asked, expected="1 to 65535", code="port")
        if "web server" in alive:
            ui = state.ports["ui"]
        elif asked is not None:
            ui = ports.insist(int(asked), UI_PORT_VARIABLE)
        else:
            ui = ports.first_free(state.ports.get("ui", UI_PORT))
        if "code server" in alive:
            code = state.ports["code"]
        else:
            code = ports.first_free(state.ports.get("code", ui + 1000), besides=(ui,))
        return {"ui": ui, "code": code}

    def _configure(self, code_port: int, location: str) -> None:
        settings = self.code / "definitions" / "dagster.yaml"
        if not settings.is_file():
            raise FactoryError(f"{settings} is missing", fix="take it from the repository again", code="settings")
        self.home.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(settings, self.home / "dagster.yaml")
        server = {"host": ports.HOST, "port": code_port, "location_name": location}
        # JSON is YAML.
        (self.home / "workspace.yaml").write_text(json.dumps({"load_from": [{"grpc_server": server}]}, indent=2) + "\n")

    def _environment(self) -> dict[str, str]:
        project = self.project
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        code = [path for path in (self.code / "src", self.code) if path.is_dir()]
        return kept | {
            "AIFACTORY_PROJECT": str(project.root),
            "AIFACTORY_STATE": str(project.state),
            "AIFACTORY_ENVS": str(project.envs),
            "AIFACTORY_ROOT": Namespace.of(project).variable,
            "DAGSTER_HOME": str(self.home),
            # The setting in dagster.yaml stops the events; only this stops the thread that uploads $DAGSTER_HOME/logs.
            "DAGSTER_DISABLE_TELEMETRY": "1",
            "PATH": path_with_scripts(),
            "PYTHONPATH": os.pathsep.join(map(str, code)),
            "PYTHONUNBUFFERED": "1",
            processes.MARK: str(self.home),
        }

    def _ready(self, client: Client) -> None:
        until = time.monotonic() + START_SECONDS
        while True:
            for service in self.running():
                service.check()
            try:
                error = client.load_error()
            except FactoryError as problem:
                error = str(problem)
            if error is None:
                return
            if time.monotonic() > until:
                raise FactoryError("the code location did not load", found=error, code="timeout")
            time.sleep(1)
            try:
                client.reload()
            except FactoryError as problem:
                if problem.code == "definitions":
                    raise

    def _until(self, what: str, service: Service, ready: Callable[[], bool]) -> None:
        def look() -> bool:
            service.check()
            return ready()

        wait(what, START_SECONDS, look, pause=0.2)

    def stop(self, say: Say = lambda text: None) -> None:
        """End the runs as their "Terminate" button does, then every process that the services left, then them."""
        with self._alone():
            state = self.state()
            services = {service.name: service for service in state.services}
            left: list[int] = []
            # The daemon first: it would launch more.
            if "daemon" in services:
                left += services["daemon"].stop()
            if self.address is not None:
                self._end_runs(Client(self.address, state.location), say)
            for name in ("web server", "code server"):
                if name in services:
                    left += services[name].stop()
            left += processes.end(lambda: processes.marked(str(self.home)), term_seconds=5)
            if state.services:
                self._write(State(ports=state.ports))
            self._sweep(say)
            if left:
                raise FactoryError(
                    "these processes outlive SIGKILL", found=", ".join(map(str, left)), code="not_killed"
                )

    def _end_runs(self, client: Client, say: Say) -> None:
        def active() -> list[str]:
            return [run["runId"] for run in client.runs(statuses=ACTIVE)]

        try:
            living = active()
            if living:
                say(f"ending {len(living)} run{'s' if len(living) > 1 else ''}")
                client.terminate(living)
                wait("the end of the runs", CANCEL_SECONDS, lambda: not active())
        except FactoryError as error:
            say(f"the runs did not end by themselves ({error.what}): ending their processes")
            with suppress(FactoryError):
                client.terminate(active(), force=True)

    def _sweep(self, say: Say) -> None:
        """End what Dagster's runs launched and left: a run that was only detached lives in a session of its own."""
        from aifactory.launch import Attempts, runs, stop
        from aifactory.launch.runs.attempts import LOCAL
        from aifactory.spec import Context

        ns = Namespace(self.project.namespace)  # what a mount holds is not ours to end, and it may be away
        for run in runs(ns):
            newest = Attempts(run.directory).newest() if run.state == "running" else None
            # What runs on a cluster outlives this machine.
            if (
                newest is not None
                and newest.backend == LOCAL
                and (Context.load(run.directory / "context.json").origin is not None)
            ):
                say(f"ending {run.run}")
                stop(ns, run.run, writer="laptop")

    def _write(self, state: State) -> None:
        part = self.file.with_suffix(".part")
        part.write_text(state.model_dump_json(indent=2))
        part.rename(self.file)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.project.state.mkdir(parents=True, exist_ok=True)
        with (self.project.state / "services.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def logs(project: Project) -> Path:
    """Where the services write what they have to say."""
    return project.state / "logs"
