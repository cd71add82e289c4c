"""A run on a cluster whose site has a tree of its own: nothing is made there before its data is whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aifactory.launch import GateRefused
from aifactory.launch.sites.marking import mark
from tests.launch.kuberay.flight import Flight, until
from tests.launch.sites.copies import KEY, copy, names, rows

pytestmark = pytest.mark.cluster


def test_a_rayjob_is_made_once_a_late_copier_is_done_and_never_on_half_of_it(
    flights: Callable[..., Flight], tmp_path: Path
) -> None:
    flight, tree = flights(site="lab"), tmp_path / "lab-tree"
    tree.mkdir()
    file = flight.lab.project.root / "sites.toml"
    snapshot = rows(flight.lab.ns)
    plan = flight.plan("say", inputs=[("rows", KEY, snapshot.version)])
    try:
        file.write_text(f'[lab]\nview = "{tree}"\nwait_seconds = 0\n')
        with pytest.raises(GateRefused, match="data_absent"):
            flights("build-probe-000000000002", site="lab").launch(plan)
        file.write_text(f'[lab]\nview = "{tree}"\nwait_seconds = 120\n')
        with flight.launching(plan) as launched:
            until(lambda: flight.said("waits for data at the site lab"))
            *most, last = names(snapshot)
            copy(snapshot, tree, most)
            until(lambda: flight.said("4 of 4 files, no manifest, no marker"))
            copy(snapshot, tree, [last])
            until(lambda: flight.said("4 of 4 files, no marker"))
            time.sleep(1.0)
            assert flight.left() == []
            mark("lab", tree, snapshot.key, snapshot.version, verify=True, writer="test")
            until(lambda: flight.said("all data is at the site lab"))
            assert launched.result.succeeded
        flight.until_gone()
    finally:
        file.unlink()
