from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from aifactory.errors import FactoryError
from aifactory.namespace import Column, FileEntry, Key, Manifest, Namespace, Snapshot, Staging

NAMES = st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4})?\.(txt|bin)", fullmatch=True)
MANIFEST = Manifest(
    kind="table",
    columns=(Column(name="code", type="string", nullable=False),),
    access="public",
    files=(
        FileEntry(path="test-00000.parquet", bytes=10, sha256="a" * 64, rows=3, part="test"),
        FileEntry(path="train-00000.parquet", bytes=30, sha256="b" * 64, rows=9, part="train"),
    ),
)


def seal(place: Path, run: str, files: dict[str, bytes], key: str = "public/a") -> Snapshot:
    staging = Staging.start(Namespace(place), key, run)
    for name, data in files.items():
        (staging.path / name).parent.mkdir(exist_ok=True)
        (staging.path / name).write_bytes(data)
    return staging.seal(kind="files")[0]


def test_the_version_of_known_content_never_changes() -> None:
    assert MANIFEST.version == "587705820edcc19da12c609ecfd8edbe2dadae63e8080e3850ac669cafd7cbe0"
    assert (MANIFEST.rows, MANIFEST.bytes, MANIFEST.parts) == (12, 40, ("train", "test"))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "tokens"},
        {"columns": ()},
        {"access": "private/oncology"},
        {"benchmark": True},
        {"files": MANIFEST.files[:1]},
        {"files": (MANIFEST.files[0], MANIFEST.files[1].model_copy(update={"rows": None}))},
        {"files": (MANIFEST.files[0], MANIFEST.files[1].model_copy(update={"part": "val"}))},
        {"files": (MANIFEST.files[0], MANIFEST.files[1].model_copy(update={"sha256": "c" * 64}))},
    ],
)
def test_every_change_of_content_is_another_version(change: dict[str, object]) -> None:
    assert Manifest(**MANIFEST.model_dump() | change).version != MANIFEST.version


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(NAMES, st.binary(max_size=50), min_size=1, max_size=5), st.randoms())
def test_the_same_files_have_one_version_wherever_whenever_and_in_whatever_order(
    files: dict[str, bytes], order: random.Random
) -> None:
    shuffled = list(files.items())
    order.shuffle(shuffled)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        first = seal(Path(one), "one", files)
        second = seal(Path(two), "two", dict(shuffled), key="public/other")
        assert first.version == second.version
        assert Snapshot.load(Key("public/a"), first.path).manifest == second.manifest
        assert [file.path for file in first.files()] == sorted(files)
        first.verify()


@pytest.mark.parametrize(
    "path", ["", "/a", "../a", "a/../b", "a//b", "./a", "a/", "a\0b", "a\nb", "a\\b", "@x", "manifest.json", "n" * 256]
)
def test_a_file_that_leaves_or_fakes_its_snapshot_is_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        FileEntry(path=path, bytes=0, sha256="0" * 64)


@pytest.mark.parametrize("part", ["Train", "dev", ""])
def test_there_are_three_parts(part: str) -> None:
    with pytest.raises(ValidationError, match="train, val or test"):
        FileEntry(path="a", bytes=0, sha256="0" * 64, part=part)


def test_files_are_listed_once_and_in_order() -> None:
    for files in (MANIFEST.files[::-1], MANIFEST.files[:1] * 2, ()):
        with pytest.raises(ValidationError):
            Manifest(kind="files", access="public", files=files)


@pytest.mark.parametrize("change", ["torn", "altered", "extra", "empty", "format"])
def test_a_manifest_that_is_torn_or_altered_is_named(tmp_path: Path, change: str) -> None:
    snapshot = seal(tmp_path, "run", {"a.txt": b"hello"})
    file = snapshot.path / "manifest.json"
    raw = json.loads(file.read_bytes())
    text = {
        "torn": file.read_text()[:-10],
        "altered": json.dumps(raw | {"benchmark": True}),
        "extra": json.dumps(raw | {"note": ""}),
        "empty": "",
        "format": json.dumps(raw | {"format": 2}),
    }[change]
    file.chmod(0o644)
    file.write_text(text)
    with pytest.raises(FactoryError) as caught:
        Snapshot.load(snapshot.key, snapshot.path)
    assert caught.value.code == "integrity"
    assert str(file) in str(caught.value)
    assert caught.value.fix
