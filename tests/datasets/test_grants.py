"""Classes when definitions load: every edge at once, under the grants that pyproject.toml writes."""

from __future__ import annotations

import pytest

from aifactory.errors import FactoryError

RAW = "raw = source(url='http://x.example/a', sha256='0' * 64)\n"
NOTES = "from aifactory.datasets import source\n" + RAW
MIX = "@dataset(inputs={'raw': 'private/clinic/notes/raw'})\ndef mix(raw: Path) -> Path: ...\n"
GRANT = '[[tool.aifactory.grants]]\nfrom = "private/clinic"\nto = "private/oncology"\nwhy = "board, 2026-03-02"\n'


def test_two_projects_meet_under_a_written_grant_in_its_direction_only(lab) -> None:
    lab.write({"assets/private/clinic/notes.py": NOTES})
    error = lab.refused(MIX, "assets/private/oncology/words.py")
    assert error.code == "class"
    assert "private/clinic/notes/raw -> private/oncology/words/mix" in str(error)
    assert "grant from private/clinic to private/oncology" in error.fix
    assert "[[tool.aifactory.grants]] in pyproject.toml" in error.fix
    lab.write({"pyproject.toml": GRANT})
    assert "private/oncology/words/mix" in lab.find()
    swapped = GRANT.replace("clinic", "x").replace("oncology", "clinic").replace('"private/x"', '"private/oncology"')
    lab.write({"pyproject.toml": swapped})
    with pytest.raises(FactoryError, match="private/clinic/notes/raw -> private/oncology/words/mix"):
        lab.find()


def test_no_grant_makes_a_public_stage_of_private_data(lab) -> None:
    lab.write({"assets/private/clinic/notes.py": NOTES, "assets/private/oncology/notes.py": NOTES})
    lab.write({"pyproject.toml": GRANT})
    error = lab.refused(MIX)
    assert error.fix == "move it under private/clinic"


def test_every_edge_is_named_at_once(lab) -> None:
    lab.write({"assets/private/clinic/notes.py": NOTES})
    error = lab.refused(MIX + MIX.replace("mix", "other"))
    assert "private/clinic/notes/raw -> public/words/mix" in str(error)
    assert "private/clinic/notes/raw -> public/words/other" in str(error)
    assert str(error).count("fix: move it under private/clinic") == 2


def test_a_wrong_grant_stops_the_definitions(lab) -> None:
    lab.write({"pyproject.toml": GRANT})
    error = lab.refused(RAW)
    assert error.code == "grants"
    assert "unknown project" in str(error)


@pytest.mark.parametrize("name", ["assets/clinic/notes.py", "assets/clinic/private/notes.py"])
def test_a_project_in_the_place_of_the_class_is_told_where_it_belongs(lab, name: str) -> None:
    error = lab.refused(RAW, name)
    assert error.code == "key"
    assert "private/clinic/notes" in error.fix


@pytest.mark.parametrize("name", ["assets/private/notes/public/words.py", "assets/public/private/notes.py"])
def test_a_class_behind_the_first_segment_is_refused(lab, name: str) -> None:
    error = lab.refused(RAW, name)
    assert error.code == "key"
    assert "first segment only" in str(error.expected)
