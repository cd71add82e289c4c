"""Raw files: packages, files, archives; mirrors, pins, and what is wrong with them."""

from __future__ import annotations

import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from aifactory.data.archive import members, tree_digest
from tests.build.lab import Lab

KEY = "public/words/raw"
CONTENT = {"top/a.txt": b"first", "top/deep/b.txt": b"second"}
DIGEST = tree_digest((path.removeprefix("top/"), hashlib.sha256(data).hexdigest()) for path, data in CONTENT.items())


def tar(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def source(lab: Lab, text: str) -> None:
    lab.write({"assets/public/words.py": f"from aifactory.datasets import source\nraw = source({text})\n"})


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("AIFACTORY_MIRROR", str(folder))
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A real web server over a folder."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object):
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}", folder
        found.shutdown()


def test_an_archive_is_kept_as_one_canonical_file(lab: Lab, good: Callable, mirror: Path) -> None:
    source(lab, f"archive='x-1.tar.gz', digest='{DIGEST}'")
    (mirror / "x-1.tar.gz").write_bytes(tar(CONTENT))
    first = good(KEY).built
    snapshot = lab.current(KEY)
    assert [entry.path for entry in snapshot.files()] == ["x-1.tar"]
    assert dict(members(snapshot.paths()[0])) == {"a.txt": b"first", "deep/b.txt": b"second"}
    lab.ns = type(lab.ns)(mirror.parent / "elsewhere")
    (mirror / "x-1.tar.gz").write_bytes(tar(dict(reversed(CONTENT.items())), "w:xz"))
    assert good(KEY).built.version == first.version


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (tar({**CONTENT, "top/a.txt": b"changed"}), "digest"),
        (tar({**CONTENT, "top/../../evil": b"x"}), "unsafe"),
        (tar({**CONTENT, "/etc/evil": b"x"}), "unsafe"),
        (tar(CONTENT)[:-40], "truncated"),
        (b"no archive at all", "truncated"),
    ],
    ids=["other content", "leaves its folder", "absolute", "truncated", "garbage"],
)
def test_a_bad_archive_is_named_and_publishes_nothing(lab: Lab, mirror: Path, data: bytes, code: str) -> None:
    source(lab, f"archive='x-1.tar.gz', digest='{DIGEST}'")
    (mirror / "x-1.tar.gz").write_bytes(data)
    error = lab.build(KEY).error
    assert error.code == code
    assert "x-1.tar.gz" in str(error)
    assert lab.published(KEY) == []
    assert not (mirror.parent / "evil").exists()


def test_no_source_reachable_says_what_is_missing_and_how_to_provide_it(lab: Lab, mirror: Path) -> None:
    source(lab, f"archive='x-1.tar.gz', url='http://127.0.0.1:1/x.tar.gz', digest='{DIGEST}'")
    error = lab.build(KEY).error
    assert error.code == "unreachable"
    for part in ("x-1.tar.gz", DIGEST, "AIFACTORY_MIRROR", "http://127.0.0.1:1/x.tar.gz", str(mirror)):
        assert part in str(error)


def test_an_archive_is_fetched_from_its_url(lab: Lab, good: Callable, server: tuple[str, Path]) -> None:
    url, folder = server
    (folder / "x-1.tar.gz").write_bytes(tar(CONTENT))
    source(lab, f"archive='{url}/x-1.tar.gz', digest='{DIGEST}'")
    told = good(KEY)
    assert told.built.files == 1
    assert not list(told.job.attempt_directory.glob("fetch-*"))


def test_a_file_is_pinned_by_its_sha256(lab: Lab, good: Callable, server: tuple[str, Path], mirror: Path) -> None:
    url, folder = server
    (folder / "data.json").write_bytes(b"[1]")
    source(lab, f"url='{url}/data.json', sha256='{hashlib.sha256(b'[1]').hexdigest()}'")
    good(KEY)
    assert lab.current(KEY).paths()[0].read_bytes() == b"[1]"
    source(lab, f"url='{url}/data.json', sha256='{hashlib.sha256(b'[2]').hexdigest()}'")
    error = lab.build(KEY).error
    assert error.code == "digest"
    assert hashlib.sha256(b"[1]").hexdigest() in error.found
    (mirror / "data.json").write_bytes(b"[2]")
    good(KEY)
    assert lab.current(KEY).paths()[0].read_bytes() == b"[2]"


def test_a_missing_page_is_no_file(lab: Lab, server: tuple[str, Path]) -> None:
    source(lab, f"url='{server[0]}/nothing.json', sha256='{'0' * 64}'")
    error = lab.build(KEY).error
    assert error.code == "unreachable"
    assert "404" in str(error)


def test_a_file_beside_the_module_is_a_new_version_when_it_changes(lab: Lab, good: Callable) -> None:
    source(lab, "file='words.txt'")
    lab.write({"assets/public/words.txt": "one"})
    first = good(KEY).built
    lab.write({"assets/public/words.txt": "two words"})
    second = good(KEY).built
    assert (second.outcome, second.previous) == ("published", first.version)


def test_files_of_a_package_keep_their_paths(lab: Lab, good: Callable) -> None:
    name = "data/code-list-April-2026.txt"
    source(lab, f"package='simple-icd-10-cm', files=['{name}']")
    told = good(KEY)
    assert [entry.path for entry in lab.current(KEY).files()] == [name]
    assert told.built.metadata["package"] == f"simple-icd-10-cm {metadata.version('simple-icd-10-cm')}"


@pytest.mark.parametrize(
    ("lock", "text", "found"),
    [
        ("simple-icd-10-cm==0.0.1\n", "package='simple-icd-10-cm', file='x'", "0.0.1"),
        ("", "package='a-package-nobody-has', file='x'", "not installed"),
        ("", "package='simple-icd-10-cm', file='no/such.txt'", "no/such.txt"),
    ],
)
def test_a_package_that_is_not_what_was_planned(lab: Lab, lock: str, text: str, found: str) -> None:
    lab.write({"locks/data.lock": lock})
    source(lab, text)
    error = lab.build(KEY).error
    assert error.code == "package"
    assert found in str(error)
