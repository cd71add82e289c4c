"""The bearer token of one cluster, from the source that `clusters.toml` names; it never stands in an error."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from datetime import datetime
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import EnvToken, ExecToken, FileToken, KubeCluster

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
FRESH_SECONDS = 60.0
"""A file is read again after this time: whoever rotates it replaces it long before the old token ends."""
EARLY_SECONDS = 30.0
EXEC_SECONDS = 60.0


class Tokens:
    """Holds the token until it is old, or `renew` is called; safe to use from several threads."""

    def __init__(self, cluster: KubeCluster) -> None:
        self._cluster, self._lock = cluster, threading.Lock()
        self._token, self._until = "", 0.0

    def current(self) -> str:
        """The token. Raises FactoryError, code "token", naming the source and the fix."""
        with self._lock:
            if not self._token or time.time() >= self._until:
                self._token, self._until = self._read()
            return self._token

    def renew(self, refused: str) -> None:
        """Forget `refused`, if it is still the one that is held."""
        with self._lock:
            if self._token == refused:
                self._token = ""

    def path(self) -> Path | None:
        """The file that holds it, where a file does."""
        source = self._cluster.token
        if isinstance(source, FileToken):
            return Path(source.path).expanduser()
        return ACCOUNT / "token" if source.source == "in-cluster" else None

    def _read(self) -> tuple[str, float]:
        source = self._cluster.token
        if isinstance(source, ExecToken):
            return self._execute(source)
        if isinstance(source, EnvToken):
            text, where = os.environ.get(source.variable, ""), f"the variable {source.variable}"
            fix = f"set {source.variable} where the control plane runs"
        else:
            path = self.path()
            assert path is not None
            where, fix = str(path), f"put a token into it, or correct token.path of [{self._cluster.name}]"
            if source.source == "in-cluster":
                fix = "run the control plane in a pod that mounts its service account, or name another token.source"
            try:
                text = path.read_text()
            except (OSError, UnicodeDecodeError) as error:
                raise self._wrong(f"can't be read from {where}", getattr(error, "strerror", None), fix) from None
        text = text.strip()
        if not text or any(mark.isspace() or not mark.isprintable() for mark in text):
            found = "nothing" if not text else "text with blanks or line breaks in it"
            raise self._wrong(f"isn't in {where}", found, fix)
        return text, time.time() + FRESH_SECONDS

    def _execute(self, source: ExecToken) -> tuple[str, float]:
        program = source.command[0]
        fix = f"run {program!r} by hand as the user of the control plane; it must print an ExecCredential with a token"
        asked = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
        environment = {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps({**asked, "spec": {"interactive": False}})}
        try:
            done = subprocess.run(
                source.command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=EXEC_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise self._wrong(f"didn't come from {program!r}", f"no answer in {EXEC_SECONDS:.0f} s", fix) from None
        except OSError as error:
            raise self._wrong(f"can't be had from {program!r}", error.strerror, fix) from None
        if done.returncode:
            # Its words are not shown: they may hold the credential.
            raise self._wrong(f"was not given by {program!r}", f"exit code {done.returncode}", fix)
        try:
            status = json.loads(done.stdout)["status"]
            token, ends = str(status["token"]).strip(), status.get("expirationTimestamp")
            until = datetime.fromisoformat(ends).timestamp() - EARLY_SECONDS if ends else float("inf")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._wrong(
                f"is not in what {program!r} printed", "no ExecCredential with status.token", fix
            ) from None
        # One that ends sooner than that is still used for a moment, instead of a command for every request.
        return token, max(until, time.time() + 1)

    def _wrong(self, what: str, found: object, fix: str) -> FactoryError:
        return FactoryError(f"the token of cluster {self._cluster.name} {what}", found=found, fix=fix, code="token")
