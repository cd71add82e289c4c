"""`aifactory doctor CLUSTER`, as a person runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Lab
from tests.kube import table
from tests.kube.space import Space

pytestmark = pytest.mark.cluster


def test_it_prints_each_line_with_its_fix_and_fails_when_one_is_broken(lab: Lab, space: Space, tmp_path: Path) -> None:
    space.token_file.chmod(0o600)
    queue = space.queue()
    table.write(lab.project, lab=table.table(space, tmp_path), bad=table.table(space, tmp_path, queues=["none"]))
    good = lab("doctor", "lab")
    assert good.code == 0, good.out + good.err
    assert f"ok       queue {queue}" in good.out
    assert "lab: nothing is broken" in good.out
    as_json = lab("doctor", "bad", "--json")
    assert as_json.code == 1
    assert not as_json.json["healthy"]
    (broken,) = [one for one in as_json.json["findings"] if one["state"] == "broken"]
    assert broken["name"] == "queue none"
    assert broken["fix"]
    for unknown, said in (("labb", "expected: lab"), ("local", "this machine")):
        found = lab("doctor", unknown)
        assert found.code == 2
        assert said in found.err
    for answer in (good, as_json):
        assert space.token_file.read_text().strip() not in answer.out + answer.err
