"""One code location for each class, from the same directory: what each executes, shows, and is called."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from aifactory.errors import FactoryError
from aifactory.launch.scope import VARIABLE, Scope
from aifactory.orchestrate.location import load, own_names
from tests.definitions.graph import graph
from tests.definitions.ward import NOTES, ward
from tests.orchestrate.lab import CHECKOUT, Lab

CLASSES = ("public", "private/ward")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return ward(tmp_path, monkeypatch)


@pytest.fixture
def located(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> dict[str, dg.Definitions]:
    """The definitions of each location, and of everything under ""."""
    found = {"": load(CHECKOUT)}
    for access in CLASSES:
        monkeypatch.setenv(VARIABLE, access)
        lab.forget()
        found[access] = load(CHECKOUT)
    return found


def executed(defs: dg.Definitions) -> set[str]:
    return {
        "/".join(key.path)
        for asset in defs.assets or ()
        if isinstance(asset, dg.AssetsDefinition)
        for key in asset.keys
    }


def test_each_location_executes_its_class_and_together_they_execute_everything_once(
    located: dict[str, dg.Definitions],
) -> None:
    public, private = (executed(located[access]) for access in CLASSES)
    assert public == {"public/letters/raw", "public/letters/clean"}
    assert private == {"private/ward/notes/linked", "private/ward/notes/parts"}
    assert public | private == executed(located[""])


def test_what_is_read_from_another_class_is_shown_without_execution(located: dict[str, dg.Definitions]) -> None:
    assets = graph(located["private/ward"])["assets"]
    assert set(assets) == {
        "private/ward/models/wardlike/checkpoints",
        "private/ward/models/wardlike/evaluations",
        "private/ward/models/wardlike",
        "private/ward/notes/linked",
        "private/ward/notes/parts",
        "public/letters/clean",
    }
    assert assets["private/ward/notes/linked"]["deps"] == ["public/letters/clean"]
    shown = assets["public/letters/clean"]
    assert (shown["automation"], shown["checks"], shown["tags"]) == (False, {}, {"class": "public"})
    (spec,) = [one for one in located["private/ward"].resolve_all_asset_specs() if "clean" in one.key.path]
    assert spec.metadata["location"] == "aifactory-public"
    assert str(spec.metadata["source"]).endswith("letters.py:21")
    assert spec.description == "Letters in upper case."


def test_the_public_location_shows_nothing_private(located: dict[str, dg.Definitions]) -> None:
    assert not [key for key in graph(located["public"])["assets"] if key.startswith("private")]


def test_data_of_another_project_under_a_grant_is_shown_without_execution(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.write("assets/private/other/notes.py", NOTES)
    lab.write(
        "assets/private/ward/joined.py",
        "from aifactory.datasets import split\nfrom assets.private.other import notes\n\n"
        'parts = split(notes.linked, by="name", train=0.5, val=0.25, test=0.25)\n',
    )
    lab.write(
        "pyproject.toml",
        '[[tool.aifactory.grants]]\nfrom = "private/other"\nto = "private/ward"\nwhy = "both agreed"\n',
    )
    monkeypatch.setenv(VARIABLE, "private/ward")
    defs = load(CHECKOUT)
    assert "private/ward/joined/parts" in executed(defs)
    assert not [key for key in executed(defs) if not key.startswith("private/ward/")]
    (spec,) = [one for one in defs.resolve_all_asset_specs() if one.key.path[1] == "other"]
    assert (spec.metadata["location"], spec.tags["project"]) == ("aifactory-private-other", "other")
    # What that one is made of is the other location's to show.
    assert not list(spec.deps)


def test_names_of_sensors_and_schedules_end_in_the_class(located: dict[str, dg.Definitions]) -> None:
    everything = graph(located[""])
    for access, suffix in (("public", "__public"), ("private/ward", "__private__ward")):
        own = graph(located[access])
        for kind in ("sensors", "schedules"):
            assert set(own[kind]) == {f"{name}{suffix}" for name in everything[kind]}
        assert own["jobs"] == everything["jobs"]


def test_a_sensor_that_is_called_alike_everywhere_is_refused() -> None:
    with pytest.raises(FactoryError) as caught:
        own_names(Scope("private/ward"), ["reaper__private__ward", "reaper"])
    assert caught.value.code == "name"
    assert caught.value.expected == "reaper__private__ward"
    own_names(Scope(), ["reaper"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "public or private/<project>"),
        ("ward", "public or private/<project>"),
        ("private", "public or private/<project>"),
        ("private/Ward", "public or private/<project>"),
        ("private/ward/notes", "public or private/<project>"),
        ("private/wrad", "private/ward or public"),
    ],
)
def test_a_class_that_is_none_or_unknown_is_refused(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, value: str, expected: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(FactoryError) as caught:
        load(CHECKOUT)
    assert (caught.value.code, caught.value.expected) == ("load", expected)
    assert VARIABLE in caught.value.what
