"""What holds for every file of the repository."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOT_TEXT = {".png", ".gz", ".xz", ".zip", ".parquet", ".bin", ".idx"}
# Sites that documents and sources may point to. An address of a package registry is in none of our files: which one
# is used is the business of the machine.
KNOWN_HOSTS = {"127.0.0.1", "localhost", "github.com", "creativecommons.org", "docs.dagster.io"}
MACHINE_PATH = re.compile(r"(?:^|[^A-Za-z0-9_./-])/(?:work|root|farm|home/[a-z]+|tmp/bash)\b(?!\.)", re.MULTILINE)


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def texts() -> list[tuple[Path, str]]:
    files = [path for path in tracked() if path.suffix not in NOT_TEXT and path != Path(__file__).resolve()]
    return [(path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in files]


def sources() -> list[tuple[Path, str]]:
    return [(path, text) for path, text in texts() if path.suffix == ".py"]


def test_no_file_is_longer_than_500_lines():
    generated = {".json", ".sum"}
    long = {str(path): lines for path, text in texts() if (lines := text.count("\n")) > 500}
    long = {path: lines for path, lines in long.items() if Path(path).suffix not in generated}
    assert not long


def test_the_mean_source_file_has_at_most_150_lines():
    lengths = [text.count("\n") for path, text in sources() if path.parts[0] == "src"]
    assert sum(lengths) / len(lengths) <= 150


def test_no_file_names_a_path_of_one_machine():
    found = [(str(path), hit.group()) for path, text in texts() for hit in MACHINE_PATH.finditer(text)]
    assert not found


@pytest.mark.parametrize("lock", sorted((ROOT / "locks").glob("*.lock")), ids=lambda path: path.stem)
def test_locks_hold_pins_and_no_address(lock: Path):
    for line in lock.read_text().splitlines():
        assert re.fullmatch(r"[a-z0-9._-]+==[^\s;]+( ; .+)?", line), line


def test_every_lock_agrees_with_dev():
    pins = {
        lock.stem: {line.split(" ; ")[0] for line in lock.read_text().splitlines()}
        for lock in (ROOT / "locks").glob("*.lock")
    }
    # What the crossing needs asks for an older numpy, and brings packages that nobody else has.
    names = {pin.split("==")[0] for pin in pins["dev"]} - {"numpy"}
    pins["crossing"] = {pin for pin in pins["crossing"] if pin.split("==")[0] in names}
    for name, lock in pins.items():
        assert lock <= pins["dev"], f"{name} is from another resolution: make locks"


def test_addresses_name_known_sites_only():
    address = re.compile(r"https?://([A-Za-z0-9.-]+)")
    found = [
        (str(path), host)
        for path, text in texts()
        for host in address.findall(text)
        if "." in host and host.lower().rstrip(".") not in KNOWN_HOSTS and not host.endswith((".invalid", ".example"))
        if not host.startswith("10.")  # a pod's, in what was recorded of a cluster
    ]
    assert not found


def test_nothing_private_of_dagster_is_imported():
    # dagster_ray's models are imported inside a function; a module of it that begins with _ is private too.
    private = re.compile(r"^\s*(?:from|import) dagster(?:\._|_(?!ray\b)|_ray\S*\._)", re.MULTILINE)
    assert not [str(path) for path, text in sources() if private.search(text)]


def test_nothing_is_left_to_do():
    unfinished = re.compile(r"\b(?:TODO|FIXME|XXX)\b|raise NotImplementedError")
    assert not [str(path) for path, text in sources() if unfinished.search(text)]


def test_every_skip_says_why():
    bare = re.compile(r"pytest\.skip\(\)|mark\.skip\b(?!if)\s*(?:$|\n)|mark\.xfail")
    assert not [str(path) for path, text in texts() if path.suffix == ".py" and bare.search(text)]
