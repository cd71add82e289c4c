"""Clusters of backend `kuberay`: the page's example loads, and what is wrong in one is named."""

from __future__ import annotations

import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from aifactory.errors import FactoryError
from aifactory.launch import load_clusters
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.project import Project
from tests.launch.kuberay.cases import cluster, example, table


def test_the_example_of_the_page_loads(tmp_path: Path) -> None:
    (tmp_path / "clusters.toml").write_text('[local]\nbackend = "local"\n\n' + example())
    found = load_clusters(replace(Project.current(), root=tmp_path))
    lab = found["lab"]
    assert isinstance(lab, KubeCluster)
    assert not lab.laptop
    assert lab.queues == ("research", "night")
    assert lab.shapes["8xh200"].gpus == 8
    assert found["local"].laptop


def test_a_wrong_table_is_named_with_its_cluster_and_field(tmp_path: Path) -> None:
    (tmp_path / "clusters.toml").write_text(example().replace('memory = "64Gi"', 'memory = "64 GB"'))
    with pytest.raises(FactoryError, match=r"lab.*wrong(.|\n)*shapes.cpu-pool.memory") as caught:
        load_clusters(replace(Project.current(), root=tmp_path))
    assert caught.value.code == "clusters"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('env = { NCCL_SOCKET_IFNAME = "eth0"', 'env = { HF_TOKEN = "hunter2"', "credential"),
        ('source = "file", ', 'source = "file", value = "hunter2", ', "token.file.value"),
        ('namespace = "training"', "", "namespace"),
    ],
)
def test_a_secret_that_was_written_by_mistake_is_not_repeated(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = example()
    assert old in text
    (tmp_path / "clusters.toml").write_text(text.replace(old, new))
    with pytest.raises(FactoryError, match=said) as caught:
        load_clusters(replace(Project.current(), root=tmp_path))
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    assert "aifactory/lab-token" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"token": {"source": "vault", "path": "x"}}, "token"),
        ({"token": {"source": "file"}}, "token.file.path"),
        ({"server": "http://kube.lab.example"}, "server"),
        ({"server": ""}, "server is missing"),
        ({"queues": []}, "needs queues"),
        ({"scheduler": "none"}, "no queues"),
        ({"usual": {"train": "16xh200"}}, "16xh200"),
        ({"limits": {"gpus": -1}}, "limits.gpus"),
        ({"volumes": {"secret": {"kind": "pvc", "claim": "c"}}}, "volumes"),
        ({"shapes": {"s": {"cpus": 1, "memory": "1Gi", "env": {"HF_TOKEN": "x"}}}, "usual": {}}, "credential"),
        ({"shapes": {"s": {"cpus": 1, "memory": "1Gi", "env": {"A": "$(B)"}}}, "usual": {}}, r"\$"),
    ],
)
def test_a_wrong_field_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        KubeCluster.model_validate(table(**changes))


@pytest.mark.parametrize(
    "token",
    [
        {"source": "env", "variable": "LAB_TOKEN"},
        {"source": "exec", "command": ["get-token", "--lab"]},
        {"source": "in-cluster"},
    ],
)
def test_every_source_of_a_token(token: dict[str, Any]) -> None:
    assert cluster(token=token).token.source == token["source"]


def test_reading_clusters_loads_neither_kubernetes_nor_dagster() -> None:
    code = (
        "import sys; import aifactory.launch, aifactory.launch.kuberay; "
        "sys.exit(', '.join({'kubernetes', 'ray', 'torch', 'dagster_ray', 'dagster'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
