"""Commands in a real pod, and its log."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aifactory.launch.kuberay.api import Api, ApiError
from aifactory.launch.kuberay.wire.kinds import PODS
from tests.kube import table
from tests.kube.server import Kube
from tests.kube.space import Space

pytestmark = pytest.mark.cluster


def test_a_command_in_a_pod_gives_its_output_its_input_and_its_exit_code(
    node: Kube, pod_space: Space, tmp_path: Path
) -> None:
    api = Api.open(table.cluster(pod_space, tmp_path))
    container = {
        "name": "main",
        "image": node.image,
        "command": ["python", "-c", "import time; print('started', flush=True); time.sleep(600)"],
    }
    spec = {
        "containers": [container],
        "serviceAccountName": "factory-public",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
    }
    api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "idle"}, "spec": spec})
    end = time.monotonic() + 90
    while ((api.get(PODS, "idle") or {}).get("status") or {}).get("phase") != "Running":
        assert time.monotonic() < end
        time.sleep(0.3)

    python = ["python", "-c"]
    code = (
        "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data[::-1]); "
        "sys.stderr.write('seen'); sys.exit(3)"
    )
    sent = bytes(range(256)) * 4000
    found = api.execute("idle", [*python, code], stdin=sent, container="main")
    assert (found.code, found.stderr, found.stdout == sent[::-1]) == (3, b"seen", True)
    assert api.execute("idle", ["cat", "/no/such/file"]).code == 1
    assert api.execute("idle", ["true"]).code == 0
    assert api.logs("idle") == b"started\n"

    with pytest.raises(ApiError) as missing:
        api.execute("idle", ["/no/such/program"])
    assert "no such file" in str(missing.value).lower()
    began = time.monotonic()
    with pytest.raises(ApiError) as late:
        api.execute("idle", ["sleep", "60"], seconds=1)
    assert late.value.code == "unreachable"
    assert "no end within 1 s" in str(late.value)
    assert time.monotonic() - began < 20
