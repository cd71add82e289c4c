"""The proxy breaks what it says, against a real API server, and mends it again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aifactory.launch.kuberay.api import Api, ApiError
from aifactory.launch.kuberay.wire.kinds import CONFIG_MAPS, PODS, RAYJOBS
from aifactory.launch.kuberay.wire.watching import Event, Listed
from tests.faults.http_proxy import Call, HttpProxy
from tests.faults.proxy import TcpProxy
from tests.kube import table
from tests.kube.space import Space

pytestmark = pytest.mark.cluster


@pytest.fixture
def tcp(space: Space) -> Iterator[TcpProxy]:
    with TcpProxy(space.kube.server) as proxy:
        yield proxy


@pytest.fixture
def http(space: Space, tmp_path: Path) -> Iterator[HttpProxy]:
    with HttpProxy(space.kube.server, space.kube.ca_file, tmp_path) as proxy:
        yield proxy


def code(api: Api) -> str:
    try:
        api.list(PODS)
    except ApiError as error:
        return error.code
    return "ok"


def test_connections_are_refused_reset_frozen_and_late_and_then_mended(
    space: Space, tmp_path: Path, tcp: TcpProxy
) -> None:
    api = Api.open(table.cluster(space, tmp_path, server=tcp.address), connect=1, read=1)
    assert code(api) == "ok"
    with tcp.refusing():
        assert code(api) == "unreachable"
    assert code(api) == "ok"
    with tcp.resetting():
        assert code(api) == "unreachable"
    assert code(api) == "ok"
    with tcp.frozen():
        began = time.monotonic()
        assert code(api) == "unreachable"
        assert 0.9 < time.monotonic() - began < 3
    assert code(api) == "ok"
    patient = Api.open(table.cluster(space, tmp_path, server=tcp.address))
    with tcp.delayed(0.2):
        began = time.monotonic()
        assert code(patient) == "ok"
        assert time.monotonic() - began > 0.4
    assert tcp.connections > 4


def test_answers_are_errors_for_chosen_calls_and_all_are_counted(space: Space, tmp_path: Path, http: HttpProxy) -> None:
    api = Api.open(table.cluster(space, tmp_path, server=http.address, ca_file=str(http.ca_file)))
    assert code(api) == "ok"
    with http.answering(503, lambda call: call.what == "pods"):
        assert code(api) == "server"
        assert api.list(RAYJOBS) == []
    heard: list[str] = []
    with http.answering(429, retry_after=1, times=1):
        began = time.monotonic()
        assert api.read(lambda: api.list(PODS), told=heard.append) == []
        assert time.monotonic() - began > 1
    assert "429 busy" in heard[0]
    with http.answering(503, lambda call: call.verb == "create"):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        with pytest.raises(ApiError) as refused:
            api.create(CONFIG_MAPS, body)
    assert refused.value.transient
    assert api.get(CONFIG_MAPS, "a") is None
    api.create(CONFIG_MAPS, body)
    api.delete(CONFIG_MAPS, "a")
    assert http.counts() == {
        ("list", "pods"): 4,
        ("list", "rayjobs"): 1,
        ("create", "configmaps"): 2,
        ("get", "configmaps"): 1,
        ("delete", "configmaps"): 1,
    }
    assert sum(one.ours for one in http.calls) == 3
    assert [one.status for one in http.calls if one.verb == "create"] == [503, 201]
    direct = Api.open(table.cluster(space, tmp_path, server=http.address))
    assert code(direct) == "certificate"


def test_a_watch_goes_on_after_its_connection_was_cut(space: Space, tmp_path: Path, http: HttpProxy) -> None:
    api = Api.open(table.cluster(space, tmp_path, server=http.address, ca_file=str(http.ca_file)))
    seen: list[Event] = []
    told: list[str] = []
    watch = api.watch(PODS, told=told.append)
    thread = threading.Thread(target=lambda: seen.extend(watch))
    thread.start()
    try:
        for _ in range(2):
            end = time.monotonic() + 20
            while not http.cut_watches("pods"):
                assert time.monotonic() < end
                time.sleep(0.05)
        pod = {"containers": [{"name": "a", "image": table.IMAGE}], "nodeSelector": {"nowhere": "yes"}}
        api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "late"}, "spec": pod})
        end = time.monotonic() + 20
        while not any(not isinstance(one, Listed) for one in seen):
            assert time.monotonic() < end, told
            time.sleep(0.05)
    finally:
        watch.stop()
        thread.join(10)
    assert not thread.is_alive()
    assert sum(isinstance(one, Listed) for one in seen) == 1
    assert http.counts()["list", "pods"] == 1
    assert http.counts()["watch", "pods"] >= 3


@pytest.mark.parametrize(
    ("method", "path", "verb", "what"),
    [
        ("GET", "/api/v1/namespaces/a/pods", "list", "pods"),
        ("GET", "/api/v1/namespaces/a/pods/x/log", "get", "pods/log"),
        ("GET", "/apis/ray.io/v1/namespaces/a/rayjobs/x", "get", "rayjobs"),
        ("DELETE", "/apis/ray.io/v1/namespaces/a/rayjobs/x", "delete", "rayjobs"),
        ("GET", "/api/v1/nodes", "list", "nodes"),
        ("GET", "/api/v1/namespaces/a", "get", "namespaces"),
        ("GET", "/version", "get", "/version"),
    ],
)
def test_calls_are_named_as_kubernetes_names_them(method: str, path: str, verb: str, what: str) -> None:
    call = Call(method, path, {})
    assert (call.verb, call.what) == (verb, what)
