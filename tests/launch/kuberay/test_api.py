"""The client of one cluster, against a real API server."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.api import Api, ApiError
from aifactory.launch.kuberay.wire.kinds import CONFIG_MAPS, PODS, RAYJOBS, Kind
from aifactory.launch.kuberay.wire.patience import Stopped
from aifactory.launch.kuberay.wire.watching import Changed, Deleted, Event, Listed, Watch
from tests.kube import table
from tests.kube.server import Kube
from tests.kube.space import Space

pytestmark = pytest.mark.cluster
SERVER = "kube-apiserver"


@pytest.fixture
def api(space: Space, tmp_path: Path) -> Iterator[Api]:
    found = Api.open(table.cluster(space, tmp_path), read=5)
    yield found
    found.close()


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"mine": "yes"}},
        "data": data,
    }


@contextmanager
def away(kube: Kube, seconds: float) -> Iterator[None]:
    """The API server is killed, and starts again after `seconds`."""
    kube.component(SERVER, "kill")
    timer = threading.Timer(seconds, kube.component, (SERVER, "start"))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        kube.up_again()
        # Ready is said before every controller and webhook is reached again: whoever comes next needs these.
        until(lambda: creates(kube), 120)


@contextmanager
def followed(api: Api, told: list[str]) -> Iterator[list[Event]]:
    """What a watch in another thread has seen; its end is waited for, and must come at once."""
    watch, seen = api.watch(CONFIG_MAPS, {"mine": "yes"}, told=told.append), list[Event]()
    thread = threading.Thread(target=lambda: seen.extend(watch))
    thread.start()
    try:
        yield seen
    finally:
        began = time.monotonic()
        watch.stop()
        thread.join(20)
        assert time.monotonic() - began < 2


@pytest.fixture
def may_watch(space: Space) -> None:
    """What the launcher has no need of, but these tests: small objects whose changes are theirs alone."""
    space.kubectl("create", "role", "watcher", "--verb=watch", "--resource=configmaps")
    space.kubectl("create", "rolebinding", "watcher", "--role=watcher", f"--serviceaccount={space.name}:launcher")


def names(event: Event) -> list[str]:
    return [one["metadata"]["name"] for one in (event.objects if isinstance(event, Listed) else [event.object])]


def compact(kube: Kube) -> None:
    """Let etcd forget all but the present, as it does each five minutes."""
    etcd = f"http://{kube.server.removeprefix('https://').rsplit(':', 1)[0]}:2379/v3/kv"

    def ask(what: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(f"{etcd}/{what}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    revision = ask("range", {"key": base64.b64encode(b"x").decode()})["header"]["revision"]
    ask("compaction", {"revision": revision, "physical": True})


def creates(kube: Kube) -> bool:
    try:
        kube.kubectl("create", "namespace", "probe", "--dry-run=server", timeout=20)
        kube.kubectl("create", "serviceaccount", "probe", "--dry-run=server", timeout=20)
    except subprocess.SubprocessError:
        return False
    return True


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(FactoryError) as caught:
        call()
    return caught.value.code


def test_objects_are_made_found_changed_and_deleted_by_their_names(api: Api) -> None:
    assert api.get(CONFIG_MAPS, "a") is None
    made = api.create(CONFIG_MAPS, config_map("a", x="1"))
    assert api.get(CONFIG_MAPS, "a") == made
    assert [one["kind"] for one in api.list(CONFIG_MAPS, {"mine": "yes"})] == ["ConfigMap"]
    assert api.list(CONFIG_MAPS, {"mine": "no"}) == []
    api.patch(CONFIG_MAPS, "a", {"data": {"x": "2"}})
    owned = api.create(CONFIG_MAPS, config_map("b"))
    api.own(CONFIG_MAPS, "b", made)
    assert code_of(lambda: api.delete(CONFIG_MAPS, "a", uid=owned["metadata"]["uid"])) == "conflict"
    assert api.delete(CONFIG_MAPS, "a", uid=made["metadata"]["uid"])
    assert not api.delete(CONFIG_MAPS, "a")
    until(lambda: api.get(CONFIG_MAPS, "b") is None)


def test_a_refused_call_says_where_what_why_and_what_to_do(api: Api) -> None:
    api.create(CONFIG_MAPS, config_map("a"))
    with pytest.raises(ApiError) as caught:
        api.create(CONFIG_MAPS, config_map("a"))
    said = str(caught.value)
    assert caught.value.code == "conflict"
    assert caught.value.reason == "AlreadyExists"
    for part in ("lab", api.cluster.server, "POST", "configmaps", "already exists", "fix:"):
        assert part in said
    assert code_of(lambda: api.create(CONFIG_MAPS, {**config_map("c"), "dta": {}})) == "invalid"
    assert code_of(lambda: api.create(CONFIG_MAPS, config_map("Not_A_Name"))) == "invalid"
    assert code_of(lambda: api.create(RAYJOBS, {**config_map("c"), "kind": "RayJob"})) == "invalid"
    assert code_of(lambda: api.list(Kind("", "v1", "services", "Service"))) == "forbidden"
    assert code_of(lambda: api.execute("none", ["true"])) == "not_found"
    assert api.logs("none") is None
    with pytest.raises(ApiError) as gone:
        api.patch(CONFIG_MAPS, "none", {"data": {"a": "b"}})
    assert gone.value.object_missing


def test_an_unknown_kind_or_namespace_is_no_missing_object(api: Api, space: Space, tmp_path: Path) -> None:
    assert code_of(lambda: api.get(Kind("ray.example", "v1", "rayjobs", "RayJob"), "a")) in ("not_found", "forbidden")
    elsewhere = Api.open(table.cluster(space, tmp_path, namespace="no-such-namespace"))
    assert code_of(lambda: elsewhere.get(RAYJOBS, "a")) == "forbidden"


def test_lists_are_whole_over_several_pages(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aifactory.launch.kuberay.api.PAGE", 2)
    for name in "abcde":
        api.create(CONFIG_MAPS, config_map(name))
    assert [one["metadata"]["name"] for one in api.list(CONFIG_MAPS, {"mine": "yes"})] == list("abcde")


def test_a_rotated_token_is_read_when_the_old_one_is_refused(api: Api, space: Space) -> None:
    space.token_file.write_text("an.old.token")
    assert code_of(lambda: api.list(PODS)) == "unauthorized"
    good = space.new_token()
    assert api.list(PODS) == []
    assert api.tokens.current() == good
    space.token_file.write_text("an.old.token")  # still held in memory: no need to read it
    assert api.list(PODS) == []


def test_a_token_never_stands_in_an_error(api: Api, space: Space) -> None:
    secret = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
    space.token_file.write_text(secret)
    with pytest.raises(ApiError) as caught:
        api.list(PODS)
    assert caught.value.code == "unauthorized"
    with pytest.raises(ApiError) as exec_error:
        api.execute("none", ["true"])
    assert exec_error.value.code == "unauthorized"
    for error in (caught.value, exec_error.value):
        chain: BaseException | None = error
        while chain is not None:
            assert secret not in f"{chain}{chain!r}"
            chain = chain.__cause__


def test_tokens_come_from_the_environment_and_from_a_command_until_they_end(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = space.token_file.read_text()
    monkeypatch.setenv("LAB_TOKEN", good)
    by_env = Api.open(table.cluster(space, tmp_path, token={"source": "env", "variable": "LAB_TOKEN"}))
    assert by_env.list(PODS) == []
    plugin, count, printed = tmp_path / "plugin", tmp_path / "count", tmp_path / "credential.json"
    plugin.write_text(f'#!/bin/sh\ntest -n "$KUBERNETES_EXEC_INFO" && echo x >>{count} && cat {printed}\n')
    plugin.chmod(0o755)
    by_command = table.cluster(space, tmp_path, token={"source": "exec", "command": [str(plugin)]})

    def ends(seconds: float) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        printed.write_text(json.dumps({"status": {"token": good, "expirationTimestamp": at}}))

    ends(3600)
    lasting = Api.open(by_command)
    assert lasting.list(PODS) == lasting.list(PODS) == []
    assert len(count.read_text().split()) == 1
    ends(-10)
    ended = Api.open(by_command)
    ended.list(PODS)
    time.sleep(1.1)
    ended.list(PODS)
    assert len(count.read_text().split()) == 3


def test_a_pod_of_the_cluster_uses_its_own_account(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text(space.token_file.read_text())
    (account / "ca.crt").write_bytes(space.kube.ca_file.read_bytes())
    for module in ("tokens", "transport"):
        monkeypatch.setattr(f"aifactory.launch.kuberay.wire.{module}.ACCOUNT", account)
    inside = table.cluster(space, tmp_path, server="", ca_file=None, token={"source": "in-cluster"})
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert code_of(lambda: Api.open(inside)) == "server"
    host, port = space.kube.server.removeprefix("https://").rsplit(":", 1)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    assert Api.open(inside).list(PODS) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ({"source": "file", "path": "/none/token"}, "No such file"),
        ({"source": "env", "variable": "NO_SUCH_TOKEN"}, "nothing"),
        ({"source": "exec", "command": ["false"]}, "exit code 1"),
        ({"source": "exec", "command": ["/none/plugin"]}, "No such file"),
        ({"source": "exec", "command": ["echo", "{}"]}, "no ExecCredential"),
    ],
)
def test_a_token_that_cannot_be_had_names_its_source(
    space: Space, tmp_path: Path, source: dict[str, Any], found: str
) -> None:
    with pytest.raises(FactoryError) as caught:
        Api.open(table.cluster(space, tmp_path, token=source)).list(PODS)
    assert caught.value.code == "token"
    assert found in str(caught.value.found)
    assert caught.value.fix


def test_a_token_file_with_more_than_a_token_is_refused(space: Space, tmp_path: Path) -> None:
    space.token_file.write_text("two words\n")
    assert code_of(lambda: Api.open(table.cluster(space, tmp_path)).list(PODS)) == "token"


def test_a_wrong_ca_is_said_at_once_and_never_tried_again(space: Space, tmp_path: Path) -> None:
    other = tmp_path / "other.crt"
    os.system(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=other -days 2 "
        f"-keyout {tmp_path}/other.key -out {other} 2>/dev/null"
    )
    wrong = Api.open(table.cluster(space, tmp_path, ca_file=str(other)))
    began = time.monotonic()
    assert code_of(lambda: wrong.read(lambda: wrong.list(PODS))) == "certificate"
    assert code_of(lambda: wrong.execute("a", ["true"])) == "certificate"
    assert time.monotonic() - began < 2
    assert code_of(lambda: Api.open(table.cluster(space, tmp_path, ca_file="/none.crt"))) == "ca_file"
    (tmp_path / "empty").touch()
    assert code_of(lambda: Api.open(table.cluster(space, tmp_path, ca_file=str(tmp_path / "empty")))) == "ca_file"


def test_two_clusters_with_other_tokens_live_side_by_side_in_threads(space: Space, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("no.good.token")
    good_api = Api.open(table.cluster(space, tmp_path))
    bad_api = Api.open(table.cluster(space, tmp_path, token={"source": "file", "path": str(bad)}))
    said: list[str] = []

    def use(api: Api) -> None:
        for _ in range(10):
            try:
                api.list(PODS)
                said.append(f"{id(api)} ok")
            except ApiError as error:
                said.append(f"{id(api)} {error.code}")

    threads = [threading.Thread(target=use, args=(api,)) for api in (good_api, bad_api) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {*said} == {f"{id(good_api)} ok", f"{id(bad_api)} unauthorized"}
    assert len(said) == 80


@pytest.mark.usefixtures("may_watch")
def test_an_outage_is_outlasted_by_reads_and_by_a_watch_whose_version_became_too_old(api: Api, space: Space) -> None:
    api.create(CONFIG_MAPS, config_map("a"))
    told: list[str] = []
    with followed(api, told) as seen:
        until(lambda: seen)
        for number in range(3):  # the watch doesn't see these: its version falls behind
            api.create(CONFIG_MAPS, {**config_map(f"other-{number}"), "metadata": {"name": f"other-{number}"}})
        with away(space.kube, 4):
            began = time.monotonic()
            assert code_of(lambda: api.read(lambda: api.list(PODS), seconds=1)) == "unreachable"
            assert time.monotonic() - began < 2
            stopped = threading.Event()
            threading.Timer(0.3, stopped.set).start()
            with pytest.raises(Stopped):
                api.read(lambda: api.list(PODS), stop=stopped.is_set)
            assert time.monotonic() - began < 3
            compact(space.kube)
            heard: list[str] = []
            assert api.read(lambda: api.get(CONFIG_MAPS, "a"), told=heard.append, seconds=90)
            assert "no answer" in heard[0]
            assert heard[-1].startswith("answers again after")
        assert api.read(lambda: api.create(CONFIG_MAPS, config_map("b")), seconds=30)
        until(lambda: "b" in names(seen[-1]))
        assert sum(isinstance(one, Listed) for one in seen) >= 2, told
    assert any("broke" in line for line in told)
    assert any("goes on" in line for line in told)


@pytest.mark.usefixtures("may_watch")
def test_a_watch_tells_each_change_and_stops_at_once(api: Api) -> None:
    api.create(CONFIG_MAPS, config_map("a"))
    with followed(api, []) as seen:
        until(lambda: seen)
        api.create(CONFIG_MAPS, {**config_map("unlabelled"), "metadata": {"name": "unlabelled"}})
        api.create(CONFIG_MAPS, config_map("b"))
        api.patch(CONFIG_MAPS, "b", {"data": {"x": "1"}})
        api.delete(CONFIG_MAPS, "a")
        until(lambda: len(seen) == 4)
    assert [(type(one), names(one)) for one in seen] == [
        (Listed, ["a"]),
        (Changed, ["b"]),
        (Changed, ["b"]),
        (Deleted, ["a"]),
    ]


def test_a_watch_without_the_right_to_it_fails_after_a_while(api: Api) -> None:
    forbidden = Watch(api, Kind("", "v1", "services", "Service"), "", settle=0.3)
    assert code_of(lambda: list(forbidden)) == "forbidden"


def test_a_frozen_server_ends_a_call_in_time(space: Space, tmp_path: Path) -> None:
    hurried = Api.open(table.cluster(space, tmp_path), connect=1, read=1)
    hurried.list(PODS)
    space.kube.component(SERVER, "freeze")
    try:
        began = time.monotonic()
        assert code_of(lambda: hurried.list(PODS)) == "unreachable"
        assert time.monotonic() - began < 3
    finally:
        space.kube.component(SERVER, "thaw")
    assert hurried.read(lambda: hurried.list(PODS), seconds=30) == []


def until(what: Callable[[], Any], seconds: float = 30) -> Any:
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"not in {seconds} s"
        time.sleep(0.1)
    return found
