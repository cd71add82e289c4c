"""A lab in two code locations of one Dagster: a code server for each, as its own user; a daemon, a web server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aifactory.laptop import processes
from aifactory.laptop.graphql import ENDED, Client
from aifactory.laptop.ports import HOST, answers
from aifactory.launch.scope import VARIABLE, Scope
from aifactory.namespace import Namespace, Publications
from aifactory.namespace.identities import Identity
from tests.definitions.ward import ward
from tests.faults.served import until
from tests.laptop.toy import unused_port
from tests.orchestrate.lab import Lab
from tests.orchestrate.postgres import postgres
from tests.orchestrate.users import PUBLIC, STRANGER, WARD, Users, users

CLASSES = {"public": PUBLIC, "private/ward": WARD}
# A third project has a folder, and no location.
OWNERS = {of: Identity(of, uid, uid) for of, uid in {**CLASSES, "private/other": STRANGER}.items()}


@dataclass
class Two:
    """The lab, the users, the folder of what each location keeps for itself, and a client for each."""

    users: Users
    lab: Lab
    ns: Namespace
    states: dict[str, Path]
    clients: dict[str, Client]

    @property
    def any(self) -> Client:
        return self.clients["public"]

    def settled(self) -> list[dict[str, Any]]:
        """All Dagster runs, once they have ended."""
        until(lambda: all(run["status"] in ENDED for run in self.any.runs()), "the runs' end", 90)
        return self.any.runs()

    def built(self, key: str) -> int:
        """How many publications the key has."""
        return len(Publications(self.ns, key).all())

    def environment(self, of: str) -> dict[str, str]:
        """What the processes of a location have in their environment."""
        return _environment(self.lab, self.ns, of, self.states[of])

    def python(self, uid: int, of: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """`python <arguments>` as a user, with the environment of a location."""
        return self.users.run(uid, *arguments, **self.environment(of) | more)


@contextmanager
def served() -> Iterator[Two]:
    """Everything is laid out, started, and ended."""
    with users() as found, postgres(found.base) as database, pytest.MonkeyPatch.context() as monkeypatch:
        lab = ward(found.base / "lab", monkeypatch)
        ns = Namespace(found.base / "lab" / "namespace")
        lines = "".join(f'"{of}" = {{ user = {one.uid}, group = {one.gid} }}\n' for of, one in OWNERS.items())
        lab.write("pyproject.toml", f"[tool.aifactory.identities]\n{lines}")
        _lay_out(found, lab, ns)
        states = {of: found.folder(f"state-{uid}", uid) for of, uid in CLASSES.items()}
        started: list[subprocess.Popen[bytes]] = []
        try:
            address = _start(found, database, lab, ns, states, started)
            yield Two(found, lab, ns, states, {of: Client(address, Scope(of).location) for of in CLASSES})
        finally:
            left = processes.end(lambda: processes.marked(str(found.base)), term_seconds=3)
            for process in started:
                process.wait(10)
            assert left == []


def _lay_out(found: Users, lab: Lab, ns: Namespace) -> None:
    """As an operator does it: by the command, as root."""
    root = _environment(lab, ns, "public", found.base / "state-root")
    done = found.run(0, "-m", "aifactory.cli", "doctor", "--init-root", "--json", **root)
    made = [one["text"] for one in json.loads(done.stdout)["findings"] if one["name"] == "init-root"]
    assert len(made) == len(OWNERS), done.stdout + done.stderr


def _environment(lab: Lab, ns: Namespace, of: str, state: Path) -> dict[str, str]:
    return {
        "AIFACTORY_PROJECT": str(lab.root),
        "AIFACTORY_ROOT": str(ns.root),
        "AIFACTORY_STATE": str(state),
        VARIABLE: of,
    }


def _start(
    found: Users,
    database: str,
    lab: Lab,
    ns: Namespace,
    states: dict[str, Path],
    started: list[subprocess.Popen[bytes]],
) -> str:
    home = found.base / "dagster"
    home.mkdir()
    # One database for the daemon, the web server and the workers of both users: SQLite's files are their maker's alone.
    settings = (found.checkout / "definitions" / "dagster.yaml").read_text()
    (home / "dagster.yaml").write_text(f"{settings}\nstorage:\n  postgres:\n    postgres_url: {database}\n")
    (home / "storage").mkdir()
    (home / "storage").chmod(0o1777)
    base = {"DAGSTER_HOME": str(home), "DAGSTER_DISABLE_TELEMETRY": "1", processes.MARK: str(found.base)}
    servers = []
    for of, uid in CLASSES.items():
        port, name = unused_port(), Scope(of).location
        command = ["-m", "dagster", "code-server", "start", "-m", "definitions", "-d", str(found.checkout), "-h", HOST]
        command += ["-p", str(port), "--location-name", name, "--log-level", "warning"]
        environment = base | _environment(lab, ns, of, states[of])
        started.append(found.start(uid, command, found.base / f"{name}.log", environment))
        servers.append({"grpc_server": {"host": HOST, "port": port, "location_name": name}})
    workspace = home / "workspace.yaml"
    workspace.write_text(json.dumps({"load_from": servers}))
    ports = [int(str(server["grpc_server"]["port"])) for server in servers]
    until(lambda: all(answers(port) for port in ports), "the code servers", 90)
    web = unused_port()
    for name, command in {
        "daemon": ["-m", "dagster._daemon", "run", "-w", str(workspace)],
        "web": ["-m", "dagster_webserver", "-h", HOST, "-p", str(web), "-w", str(workspace)],
    }.items():
        started.append(found.start(0, command, found.base / f"{name}.log", base))
    until(lambda: answers(web), "the web server", 90)
    return f"http://{HOST}:{web}"
