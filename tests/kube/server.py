"""A Kubernetes cluster for tests: one that this module starts (`cluster/up`), or one that somebody keeps running."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

SCRIPTS = Path(__file__).parent / "cluster"
MARK = ("kube-system", "aifactory-tests")
PREFIX, OWNER = "aifactory-kube.", "owner"
Action = Literal["stop", "start", "freeze", "thaw", "kill"]
Part = Literal[
    "kube-apiserver", "etcd", "kuberay-operator", "kueue", "kube-controller-manager", "kube-scheduler", "kwok"
]


class NotForTests(Exception):
    """A cluster that nobody marked for tests."""


@dataclass(frozen=True)
class Kube:
    """`kubeconfig` is an administrator's. `state` is the folder of the cluster's parts, None where they are not ours to
    stop. `dashboards`: the address that the operator asks instead of Ray's dashboards, None where it asks real ones.
    `image`: what its nodes have for Ray pods, None on fake nodes."""

    kubeconfig: Path
    state: Path | None
    path: str
    dashboards: str | None = None
    image: str | None = None

    def kubectl(self, *arguments: str, stdin: str | None = None, timeout: float = 120) -> str:
        """Its output. Raises CalledProcessError, with `stderr`."""
        done = subprocess.run(
            ["kubectl", *arguments], env=self._env(), input=stdin, capture_output=True, text=True, timeout=timeout
        )
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, ["kubectl", *arguments], done.stdout, done.stderr)
        return done.stdout

    def get(self, *arguments: str) -> Any:
        """`kubectl get ... -o json`, read."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def create(self, *objects: Mapping[str, Any]) -> None:
        """Create them, in one call."""
        self.kubectl(
            "create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        )

    def component(self, part: Part, action: Action) -> None:
        """Break a part of the cluster or mend it: `stop` and `start`, `freeze` and `thaw`, `kill` and `start`. Whoever
        breaks one mends it; `up_again` waits until the API server answers."""
        if self.state is None:
            raise RuntimeError("this cluster was not started from here: its parts are not ours to stop")
        _run([SCRIPTS / "component", part, action], {**self._env(), "AIFACTORY_KUBE_STATE": str(self.state)})

    def up_again(self) -> None:
        """Start and wake every part that a test may have left stopped, and wait for the API server."""
        assert self.state is not None
        for script in sorted((self.state / "run").iterdir()):
            for action in ("thaw", "start"):
                self.component(script.name, action)  # type: ignore[arg-type]
        _run(
            ["bash", "-c", "for i in $(seq 600); do kubectl get --raw /readyz && exit; sleep .1; done; exit 1"],
            self._env(),
        )

    @cached_property
    def server(self) -> str:
        """`https://address:port` of the API server."""
        return str(self._cluster["server"])

    @cached_property
    def ca_file(self) -> Path:
        """The certificate that signs the API server's, in a file."""
        path = self.kubeconfig.with_name(f"{self.kubeconfig.name}.ca.crt")
        path.write_bytes(base64.b64decode(self._cluster["certificate-authority-data"]))
        return path

    @cached_property
    def _cluster(self) -> dict[str, Any]:
        shown = self.kubectl("config", "view", "--raw", "--minify", "-o", "json")
        found: dict[str, Any] = json.loads(shown)["clusters"][0]["cluster"]
        return found

    def check_mark(self) -> None:
        """Raises NotForTests."""
        namespace, name = MARK
        try:
            self.kubectl("get", "configmap", "-n", namespace, name, "--request-timeout=20s")
        except subprocess.CalledProcessError as error:
            raise NotForTests(
                f"KUBECONFIG ({self.kubeconfig}) names a cluster that is not marked for tests, and tests create and "
                f"break things. Unset KUBECONFIG: then the tests start a cluster of their own. If this may be used:\n"
                f"    kubectl create configmap -n {namespace} {name}\n{error.stderr.strip()}"
            ) from error

    def _env(self) -> dict[str, str]:
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PATH": self.path}


def kept(environment: Mapping[str, str]) -> Kube | None:
    """The cluster that KUBECONFIG names, which must be marked for tests; None without KUBECONFIG."""
    if not environment.get("KUBECONFIG"):
        return None
    state = environment.get("AIFACTORY_KUBE_STATE")
    kube = Kube(
        kubeconfig=Path(environment["KUBECONFIG"]),
        state=Path(state) if state else None,
        path=environment["PATH"],
        dashboards=environment.get("AIFACTORY_KUBE_DASHBOARDS"),
        image=environment.get("AIFACTORY_KUBE_IMAGE"),
    )
    kube.check_mark()
    return kube


def start(arguments: Sequence[str], *, say: Callable[[str], None], dashboards: str | None = None) -> Kube:
    """A new cluster; `arguments` are those of `cluster/up`. Programs that are missing are built first, which takes up
    to half an hour once; `say` is told line by line. `stop` ends it."""
    sweep()
    state = Path(tempfile.mkdtemp(prefix=PREFIX))
    (state / OWNER).write_text(born(os.getpid()))
    env = {name: value for name, value in os.environ.items() if name != "AIFACTORY_KUBE_DASHBOARDS"}
    if dashboards:
        env["AIFACTORY_KUBE_DASHBOARDS"] = dashboards
    with subprocess.Popen(
        [SCRIPTS / "up", "--state", str(state), *arguments],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            say(line.rstrip())
        shown = process.stdout.read()
    if process.returncode:
        raise RuntimeError(f"the cluster did not start, its logs are in {state}/logs:\n{''.join(lines[-20:])}")
    exports = dict(line.removeprefix("export ").split("=", 1) for line in shown.splitlines())
    return Kube(
        kubeconfig=Path(exports["KUBECONFIG"]),
        state=state,
        path=exports["PATH"].replace("$PATH", os.environ["PATH"]),
        dashboards=dashboards,
        image=exports.get("AIFACTORY_KUBE_IMAGE"),
    )


def stop(kube: Kube) -> None:
    """End a cluster of `start`, and remove all that it left."""
    _run([SCRIPTS / "down", "--state", str(kube.state)], dict(os.environ))


def sweep() -> None:
    """End the clusters whose session was killed, and could not."""
    for owner in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        known = owner.read_text()
        if known != born(int(known.split()[0])) and (owner.parent / "pids").is_dir():
            _run([SCRIPTS / "down", "--state", str(owner.parent)], dict(os.environ))


def born(pid: int) -> str:
    """The process and when it started, which tells it from a later one of that number."""
    try:
        return f"{pid} {Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[19]}"
    except OSError:
        return f"{pid} ended"


def _run(command: Sequence[str | Path], env: Mapping[str, str]) -> None:
    done = subprocess.run(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
