"""A Postgres of the test's own, as the database that processes of several users share."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aifactory.laptop.ports import HOST, answers
from tests.faults.served import until
from tests.laptop.toy import unused_port

# It refuses to run as root, and as a number without a name.
USER = "nobody"


def binary(name: str) -> str:
    """The program on PATH or where Debian keeps it; skips where there is none."""
    places = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *places]))
    if found is None:
        pytest.skip(f"Postgres is not installed here (no {name})")
    return found


@contextmanager
def postgres(base: Path) -> Iterator[str]:
    """Its address as Dagster takes it. `base` is a folder that everybody may enter."""
    user = pwd.getpwnam(USER)
    place, port = base / "postgres", unused_port()
    place.mkdir(mode=0o700)
    os.chown(place, user.pw_uid, user.pw_gid)
    who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": base}
    with (base / "postgres.log").open("wb") as log:
        make = [binary("initdb"), "-D", str(place / "data"), "-U", "dagster", "-A", "trust", "--no-sync", "-E", "UTF8"]
        subprocess.run([*make, "--no-locale"], stdout=log, stderr=log, check=True, **who)  # type: ignore[call-overload]
        start = [binary("postgres"), "-D", str(place / "data"), "-h", HOST, "-p", str(port), "-k", ""]
        server = subprocess.Popen([*start, "-c", "fsync=off"], stdout=log, stderr=log, **who)  # type: ignore[call-overload]
        try:
            until(lambda: answers(port), "Postgres", 60)
            yield f"postgresql+psycopg2://dagster@{HOST}:{port}/postgres"
        finally:
            server.send_signal(signal.SIGINT)  # closes its connections
            server.wait(30)
