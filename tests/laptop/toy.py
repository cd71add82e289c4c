"""A code location of a few lines, for tests of what starts, watches and ends Dagster."""

import json
import socket
from pathlib import Path

from aifactory.laptop.ports import HOST
from aifactory.project import Project

DEFINITIONS = '''
import subprocess
import sys
import time

import dagster as dg


@dg.asset(check_specs=[dg.AssetCheckSpec("has_rows", asset="good", blocking=True)])
def good(context: dg.AssetExecutionContext):
    context.log.info("three rows")
    return dg.MaterializeResult(metadata={"rows": 3, "loss": 0.5}, check_results=[dg.AssetCheckResult(passed=True)])


@dg.asset
def bad():
    raise ValueError("the source has no rows")


@dg.op(config_schema={"file": str})
def stray(context):
    """Leaves a process in a session of its own behind, which ignores SIGTERM, and waits."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    open(context.op_config["file"], "w").write(str(child.pid))
    time.sleep(600)


@dg.job
def forever():
    stray()


@dg.sensor(job=forever, default_status=dg.DefaultSensorStatus.STOPPED)
def watcher(context):
    return dg.SkipReason("nothing new")


defs = dg.Definitions(assets=[good, bad], jobs=[forever], sensors=[watcher], executor=dg.in_process_executor)
'''
CHECKOUT = Path(__file__).resolve().parents[2]


def project(folder: Path) -> Project:
    """A project whose definitions are the few lines above, with the settings that the real ones run with."""
    root = folder / "project"
    (root / "definitions").mkdir(parents=True)
    (root / "definitions" / "__init__.py").write_text(DEFINITIONS)
    (root / "definitions" / "dagster.yaml").write_bytes((CHECKOUT / "definitions" / "dagster.yaml").read_bytes())
    state = folder / "state"
    state.mkdir()
    # Far from the ports that a person's `make ui`, or another test, takes first.
    (state / "services.json").write_text(json.dumps({"ports": {"ui": unused_port(), "code": unused_port()}}))
    return Project(
        root=root,
        state=state,
        envs=state / "envs",
        namespace=state / "namespace",
        package=CHECKOUT / "src" / "aifactory",
    )


def unused_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
