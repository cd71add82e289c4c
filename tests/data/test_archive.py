from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.data.archive import archive_digest, canonicalize, members, open_members, tree_digest
from aifactory.errors import FactoryError

FILES = {"top/b.xml": b"<b/>", "top/sub/a.xml": b"<a/>" * 5000, "top/readme": b""}
STRIPPED = {path.removeprefix("top/"): content for path, content in FILES.items()}


def tar(
    path: Path, files: dict[str, bytes], mode: str = "w", change: Callable[[tarfile.TarInfo], None] | None = None
) -> Path:
    with tarfile.open(path, mode) as file:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if change is not None:
                change(info)
            file.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize("kind", ["w", "w:gz", "w:bz2", "w:xz", "zip"])
def test_every_kind_of_archive_gives_the_same_canonical_bytes(tmp_path: Path, kind: str) -> None:
    def odd(info: tarfile.TarInfo) -> None:
        info.mtime, info.uid, info.uname, info.mode = 123, 1000, "someone", 0o777

    shuffled = dict(random.Random(kind).sample(list(FILES.items()), 3))
    source = tmp_path / "source"
    zipped(source, shuffled) if kind == "zip" else tar(source, shuffled, kind, odd)
    digest = canonicalize(source, tmp_path / "canonical.tar", strip_top=True)
    reference = canonicalize(tar(tmp_path / "plain", STRIPPED), tmp_path / "reference.tar")
    assert digest == reference == archive_digest(source, strip_top=True)
    assert archive_digest(tmp_path / "canonical.tar") == digest
    assert (tmp_path / "canonical.tar").read_bytes() == (tmp_path / "reference.tar").read_bytes()
    assert list(members(tmp_path / "canonical.tar")) == sorted(STRIPPED.items())
    with tarfile.open(tmp_path / "canonical.tar") as file:
        assert {(m.mtime, m.uid, m.gid, m.uname, m.gname, m.mode) for m in file} == {(0, 0, 0, "", "", 0o644)}


NAMES = st.text(st.characters(exclude_characters="/\\:\0", exclude_categories=["Cs"]), min_size=1, max_size=120)
PATHS = st.lists(NAMES.filter(lambda n: n not in (".", "..")), min_size=1, max_size=3).map("/".join)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(PATHS, st.binary(max_size=2000), min_size=1, max_size=5))
def test_any_files_survive_and_have_one_digest(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    directory = tmp_path_factory.mktemp("x")
    digest = canonicalize(tar(directory / "a", files, "w:gz"), directory / "b")
    assert dict(members(directory / "b")) == files
    assert digest == canonicalize(directory / "b", directory / "c") == archive_digest(directory / "a")
    assert (directory / "b").read_bytes() == (directory / "c").read_bytes()


def test_the_digest_is_what_the_shell_prints() -> None:
    assert tree_digest([("b", "22"), ("a", "33"), ("c", "11")]) == tree_digest([("c", "11"), ("a", "33"), ("b", "22")])
    # printf '11  c\n22  b\n33  a\n' | sha256sum
    assert tree_digest([("b", "22"), ("a", "33"), ("c", "11")]) == SHELL


SHELL = "279447249664374e904baeb48b58ed8a00acf75de5f8a2ac498d3d5a45f3c60d"


def test_only_members_with_the_suffix_are_read(tmp_path: Path) -> None:
    assert [path for path, _ in members(tar(tmp_path / "a", FILES), suffix=".xml")] == ["top/b.xml", "top/sub/a.xml"]


def test_a_tar_that_holds_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"x": b"1"}).read_bytes()
    assert zipfile.is_zipfile(tar(tmp_path / "a.tar", {"PK.zip": inner}))
    assert dict(members(tmp_path / "a.tar")) == {"PK.zip": inner}


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../up", "a\\..\\up", "C:/x", "a//b", "./../x"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_paths_that_leave_the_archive_are_refused(tmp_path: Path, path: str, kind: str) -> None:
    archive = (tar if kind == "tar" else zipped)(tmp_path / "a", {"fine": b"1", path: b"2"})
    for read in (lambda: list(members(archive)), lambda: canonicalize(archive, tmp_path / "out")):
        with pytest.raises(FactoryError, match="is refused") as error:
            read()
        assert error.value.code == "unsafe"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    def change(info: tarfile.TarInfo) -> None:
        if info.name == "evil":
            info.type, info.linkname, info.size = kind, "fine", 0

    archive = tar(tmp_path / "a", {"fine": b"1", "evil": b""}, change=change)
    with pytest.raises(FactoryError, match="member 'evil' is refused") as error:
        list(members(archive))
    assert error.value.code == "unsafe"


def test_links_in_a_zip_and_encrypted_files_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        info = zipfile.ZipInfo("evil")
        info.external_attr = 0o120777 << 16
        file.writestr(info, "/etc/passwd")
    with pytest.raises(FactoryError, match="a link or special file"):
        list(members(tmp_path / "a.zip"))


def test_one_path_twice_and_files_beside_the_top_folder_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a", "w") as file:
        for _ in range(2):
            file.addfile(tarfile.TarInfo("same"))
    with pytest.raises(FactoryError, match="two members of one path"):
        list(members(tmp_path / "a"))
    with pytest.raises(FactoryError, match="not everything is in one top folder"):
        list(members(tar(tmp_path / "b", {"loose": b""}), strip_top=True))
    with pytest.raises(FactoryError, match="not everything is in one top folder"):
        list(members(tar(tmp_path / "c", {"top/a": b"", "other/b": b""}), strip_top=True))


@pytest.mark.parametrize("kind", ["w", "w:gz", "w:bz2", "w:xz", "zip"])
def test_an_archive_cut_anywhere_is_an_error_and_never_fewer_members(tmp_path: Path, kind: str) -> None:
    files = {f"top/{n}": random.Random(n).randbytes(700) for n in range(12)}
    whole = tmp_path / "whole"
    zipped(whole, files) if kind == "zip" else tar(whole, files, kind)
    content = whole.read_bytes()
    end = len(content)
    if kind == "w":
        end = 12 * 512 * 3  # what follows is the end-of-archive mark, padded to a record
    cuts = {*range(0, end, 499), *range(512, end, 512), end}
    for cut in sorted(cuts - {len(content)}):
        (tmp_path / "cut").write_bytes(content[:cut])
        with pytest.raises(FactoryError, match="truncated or damaged") as error:
            list(members(tmp_path / "cut"))
        assert error.value.code == "truncated"
        assert f"{cut} bytes" in str(error.value)


def test_a_flipped_byte_in_a_header_or_a_checked_stream_is_an_error(tmp_path: Path) -> None:
    content = bytearray(tar(tmp_path / "a", FILES).read_bytes())
    content[1024 + 3] ^= 1  # the second header: Python's own reader takes this for the end
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(FactoryError, match="truncated or damaged"):
        list(members(tmp_path / "a"))
    packed = bytearray(gzip.compress(tar(tmp_path / "b", FILES).read_bytes()))
    packed[-6] ^= 1  # its checksum
    (tmp_path / "b").write_bytes(packed)
    with pytest.raises(FactoryError, match="truncated or damaged"):
        list(members(tmp_path / "b"))


def test_other_files_and_missing_ones_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"<html>not found</html>")
    with pytest.raises(FactoryError, match=r"a\.tar: the archive is truncated or damaged"):
        list(members(tmp_path / "a.tar"))
    with pytest.raises(FactoryError, match=r"b\.tar: no such archive"):
        list(open_members(tmp_path / "b.tar"))
