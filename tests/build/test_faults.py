"""Damage, kills, and private data."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

from aifactory.channel.reader import Reader
from aifactory.namespace import Publications
from aifactory.spec import InputRef, RunSpec
from tests.build.lab import Lab, rows_stage

KEY = "public/words/clean"
GOOD = "for n, line in enumerate(raw.read_text().split()):\n    yield Row(n, line)"


def flip(path: Path) -> None:
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_flipped_byte_in_an_input_stops_the_build_and_names_the_file(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    path = lab.current("public/words/raw").paths()[0]
    flip(path)
    error = lab.build(KEY).error
    assert error.code == "integrity"
    assert str(path) in str(error)
    assert "sha256" in error.found
    assert lab.published(KEY) == []


def test_a_damaged_snapshot_is_made_again_and_not_reused(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    first = good(KEY).built
    flip(lab.current(KEY).paths()[0])
    again = good(KEY)
    assert again.built.version == first.version
    assert "damaged" in again.notes[0]
    lab.current(KEY).verify()


def test_a_build_that_is_killed_leaves_nothing_visible(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    first = good(KEY).built
    slow = f"""
        import time
        for n in range(50_000):
            yield Row(n, "x" * 100)
        Path(r"{lab.root}/reached").touch()
        time.sleep(60)
    """
    lab.write(rows_stage(slow))
    process, attempt = lab.process(KEY)
    deadline = time.monotonic() + 60
    while not (lab.root / "reached").exists():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.stderr.close()
    assert lab.current(KEY).version == first.version
    lab.current(KEY).verify()
    left = sorted(path.name for path in lab.ns.directory(KEY).iterdir() if path.name.startswith("@staging-"))
    assert left == [f"@staging-{attempt.parents[1].name}"]
    assert lab.published(KEY) == [first.version]
    lab.write(rows_stage(GOOD + "\nyield Row(9, 'more')"))
    assert good(KEY).built.rows == 4


def test_a_stop_ends_the_build_as_cancelled(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(f"Path(r'{lab.root}/reached').touch()\nfor n in range(10**9):\n    yield Row(n, 'x')"))
    good("public/words/raw")
    process, attempt = lab.process(KEY)
    while not (lab.root / "reached").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 143
    process.stderr.close()
    assert Reader(attempt).new()[-1].payload.outcome == "cancelled"
    assert not list(lab.ns.directory(KEY).glob("@staging-*"))


def test_private_values_are_in_no_message(lab: Lab, good: Callable) -> None:
    secret = "Mrs_Jones_1931"
    checks = """
        from collections.abc import Iterator
        import pyarrow as pa
        from aifactory.datasets import check
        @check(blocking=False)
        def broken(table: pa.Table) -> bool:
            raise ValueError("it broke at " + table["text"][0].as_py())
    """
    files = rows_stage(GOOD, checks="broken()")
    text = files["assets/public/words.py"].replace(
        "import pyarrow as pa", "import pyarrow as pa\nfrom checks.words import broken"
    )
    lab.write(
        {"assets/private/onco/notes.py": text, "assets/private/onco/words.txt": secret, "checks/words.py": checks}
    )
    good("private/onco/notes/raw")
    told = good("private/onco/notes/clean")
    assert told.built.rows == 1
    assert told.audits["broken"].reason == "the check raised ValueError at checks/words.py:7 in broken"
    assert "preview" not in told.built.metadata
    assert "lengths" not in told.built.metadata
    messages = "".join(path.read_text() for path in told.job.attempt_directory.rglob("messages/*.json"))
    audits = "".join(
        path.read_text() for path in lab.ns.directory("private/onco/notes/clean").rglob("@audits/**/*.json")
    )
    assert secret not in messages + audits


def test_a_private_function_that_raises_shows_no_values(lab: Lab, good: Callable) -> None:
    text = rows_stage("raise ValueError('patient ' + raw.read_text())")["assets/public/words.py"]
    lab.write({"assets/private/onco/notes.py": text, "assets/private/onco/words.txt": "Mrs_Jones_1931"})
    good("private/onco/notes/raw")
    process, attempt = lab.process("private/onco/notes/clean", access="private/onco")
    assert process.wait(timeout=60) == 1
    process.stderr.close()
    messages = "".join(path.read_text() for path in attempt.rglob("messages/*.json"))
    assert "Mrs_Jones_1931" not in messages
    assert json.dumps("ValueError") in messages


def test_a_class_is_refused_again_when_bytes_are_written(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    spec = lab.spec(lab.stages()[KEY])
    text = rows_stage(GOOD)["assets/public/words.py"]
    lab.write({"assets/private/onco/words.py": text, "assets/private/onco/words.txt": "a"})
    good("private/onco/words/raw")
    private = lab.current("private/onco/words/raw")
    wrong = InputRef(role="raw", kind="dataset", key=str(private.key), version=private.version)
    error = lab.run(lab.job(RunSpec(kind="build", config=spec.config, inputs=(wrong,), image=spec.image))).error
    assert error.code == "class"
    assert lab.published(KEY) == []


def test_a_full_disk_keeps_the_last_good_version(lab: Lab, good: Callable, small_disk) -> None:
    disk, room = small_disk
    lab.ns = type(lab.ns)(disk / "namespace")
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    first = good(KEY).built
    lab.write(rows_stage("import os\nfor n in range(2000):\n    yield Row(n, os.urandom(500).hex())"))
    lab.stages()
    with room(100_000):
        caught = None
        try:
            lab.build(KEY)
        except OSError as error:
            caught = error
    assert caught is not None
    assert Publications(lab.ns, KEY).current().version == first.version
    lab.current(KEY).verify()
