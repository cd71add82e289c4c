"""AIFACTORY_ROOT: one folder, or a list whose first is written and whose others are only read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from aifactory import roots
from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.store import make_directory


def opened(monkeypatch: pytest.MonkeyPatch, *parts: object) -> Namespace:
    monkeypatch.setenv("AIFACTORY_ROOT", os.pathsep.join(map(str, parts)))
    return Namespace.open()


def refusal(act: Callable[[], object], code: str = "root") -> FactoryError:
    with pytest.raises(FactoryError) as caught:
        act()
    assert caught.value.code == code
    assert caught.value.fix
    return caught.value


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "lab" / "public").mkdir(parents=True)
    return tmp_path / "lab"


def test_the_first_is_written_and_the_others_are_read(tmp_path: Path, lab: Path, monkeypatch) -> None:
    (tmp_path / "team" / "private").mkdir(parents=True)
    ns = opened(monkeypatch, tmp_path / "own", lab, tmp_path / "team")
    assert ns == Namespace(tmp_path / "own", (lab, tmp_path / "team"))
    assert Project.current().namespace == tmp_path / "own"
    assert ns.directory("public/a") == tmp_path / "own/public/a"
    assert not (tmp_path / "own").exists()


def test_what_a_child_process_is_told_means_the_same(tmp_path: Path, lab: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ns = opened(monkeypatch, "own", "lab")
    monkeypatch.chdir("/")
    assert opened(monkeypatch, ns.variable) == ns


def test_without_the_variable_it_is_the_checkouts_own(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("AIFACTORY_ROOT", raising=False)
    monkeypatch.setenv("AIFACTORY_STATE", str(tmp_path / "state"))
    assert Namespace.open() == Namespace(tmp_path / "state" / "namespace")


@pytest.mark.parametrize("text", [":/lab", "/own:", "/own::/lab"])
def test_an_empty_part_never_makes_a_mount_the_first(text: str) -> None:
    assert "empty part" in refusal(lambda: roots.parse(text)).what


def test_one_folder_twice_is_refused_also_by_another_name(tmp_path: Path, lab: Path) -> None:
    (tmp_path / "link").symlink_to(lab)
    for other in (lab, tmp_path / "link", lab / ".." / "lab"):
        assert "twice" in refusal(lambda other=other: roots.parse(f"{lab}{os.pathsep}{other}")).what


def test_a_root_inside_another_is_refused_whichever_comes_first(lab: Path) -> None:
    for parts in ((lab, lab / "mine"), (lab / "mine", lab)):
        error = refusal(lambda parts=parts: roots.parse(os.pathsep.join(map(str, parts))))
        assert f"{lab / 'mine'}, which lies inside {lab}" in error.what


def test_a_mount_that_is_away_is_no_namespace_without_keys(tmp_path: Path, lab: Path, monkeypatch) -> None:
    error = refusal(lambda: opened(monkeypatch, tmp_path / "own", tmp_path / "gone"))
    assert str(tmp_path / "gone") in error.what
    assert "mount it" in error.fix
    (tmp_path / "mountpoint").mkdir()
    assert "without a namespace" in str(refusal(lambda: opened(monkeypatch, tmp_path / "own", tmp_path / "mountpoint")))
    (tmp_path / "file").touch()
    assert "a file" in str(refusal(lambda: opened(monkeypatch, tmp_path / "own", tmp_path / "file")))


@pytest.mark.parametrize("place", ["file", "file/below/it"])
def test_a_root_that_can_never_be_a_folder_is_refused(tmp_path: Path, place: str, monkeypatch) -> None:
    (tmp_path / "file").touch()
    error = refusal(lambda: opened(monkeypatch, tmp_path / place))
    assert str(tmp_path / place) in error.what
    assert f"{tmp_path / 'file'} is a file" in str(error.found)


def test_a_name_that_no_file_system_takes_is_refused(tmp_path: Path, monkeypatch) -> None:
    assert "too long" in str(refusal(lambda: opened(monkeypatch, tmp_path / ("x" * 300))))


def test_a_root_that_cannot_be_made_or_written_is_named_and_no_traceback(
    tmp_path: Path, read_only: Callable[[Path], AbstractContextManager[None]]
) -> None:
    (tmp_path / "closed").mkdir()
    with read_only(tmp_path / "closed"):
        error = refusal(lambda: make_directory(tmp_path / "closed" / "own"), "read_only")
    assert str(tmp_path / "closed" / "own") in error.what
    error = refusal(lambda: make_directory(Path("/proc/own")), "read_only")
    assert "/proc/own" in error.what
    (tmp_path / "file").touch()
    assert "file" in refusal(lambda: make_directory(tmp_path / "file" / "own"), "read_only").what


def test_nothing_opens_the_first_root_alone() -> None:
    """Where the others are left out, the lab's data is not there. `make down` ends this laptop's runs only."""
    package = Path(roots.__file__).parent
    pattern = re.compile(r"Namespace\([\w.]*namespace\)|Namespace\([\w.]*root\)")
    found = [str(path.relative_to(package)) for path in package.rglob("*.py") if pattern.search(path.read_text())]
    assert found == ["laptop/services.py"]
