"""What pods see of a site: real pods on a real node, and pods that never get anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.launch.doctor import Sample, seen
from aifactory.launch.kuberay.api import Api
from aifactory.launch.sites.marker import Marker, write_marker
from aifactory.namespace import Namespace
from tests.kube import table
from tests.kube.server import Kube
from tests.kube.space import Space
from tests.launch.published import publish

pytestmark = pytest.mark.cluster


@pytest.fixture
def tree(ns: Namespace) -> tuple[Path, Sample]:
    """A tree that holds one version."""
    return ns.root, Sample.of(publish(ns, "public/letters/clean", "table", {"train/a.txt": "a"}))


def test_a_pod_of_each_class_reads_the_marker_over_its_mount(
    node: Kube, pod_space: Space, tree: tuple[Path, Sample]
) -> None:
    assert node.image is not None
    root, sample = tree
    for directory in (*root.parents[:2], root):
        directory.chmod(0o755)
    api = Api.open(table.cluster(pod_space, root, site="lab"))
    (line,) = seen(api, node.image, {"public": sample}, seconds=120)
    assert (line.state, line.fix) == ("broken", f"aifactory mark-present {sample.name} --site lab"), line
    marker = Marker(
        site="lab",
        key=str(sample.key),
        version=sample.version,
        files=1,
        bytes=1,
        checked="sizes",
        at="2026-01-01T00:00:00Z",
        writer="ada",
    )
    write_marker(root, marker)
    (line,) = seen(api, node.image, {"public": sample}, seconds=120)
    assert line.state == "ok", line
    assert line.text == f"a pod sees the marker of {sample.name} at lab, and can't write it"
    elsewhere = Api.open(table.cluster(pod_space, root / "public"))
    (line,) = seen(elsewhere, node.image, {"public": sample}, seconds=120)
    assert line.state == "broken"
    assert 'lab.volumes."public"' in line.fix
    assert pod_space.items("pods") == []


def test_a_pod_that_never_ends_is_said_with_its_reason_and_deleted(space: Space, tmp_path: Path) -> None:
    selector = {"cpus": 1, "memory": "1Gi", "node_selector": {"nowhere": "yes"}}
    cluster = table.cluster(space, tmp_path, shapes={"two": selector}, usual={"train": "two"})
    (line,) = seen(Api.open(cluster), table.IMAGE, {}, seconds=3)
    assert line.state == "broken"
    assert "didn't match Pod's node affinity/selector" in line.text
    assert [one for one in space.items("pods") if "deletionTimestamp" not in one["metadata"]] == []
