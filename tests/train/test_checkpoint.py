from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Grant
from aifactory.store import digest
from aifactory.train.checkpoint import Checkpoint, Checkpoints, open_checkpoint

SPEC = "ab" * 32


def writers(text: str = "weights") -> dict[str, Callable[[Path], None]]:
    return {
        "model.bin": lambda path: path.write_text(text) and None,
        "training.bin": lambda path: path.write_text("moments") and None,
    }


def save(run: Path, step: int, text: str = "weights", attempt: int = 1) -> Checkpoint:
    return Checkpoints(run, attempt, SPEC).save(step, writers(text), {"loss": 1.5})


def newest(run: Path, attempt: int = 1) -> tuple[Checkpoint | None, list[str]]:
    notes: list[str] = []
    return Checkpoints(run, attempt, SPEC).newest(notes.append), notes


def start_attempt(run: Path, number: int) -> None:
    (run / "attempts" / f"{number:08d}").mkdir(parents=True)


def test_a_checkpoint_says_what_it_holds_and_its_digest_is_of_that(run_directory: Path) -> None:
    made = save(run_directory, 100)
    assert made.path == run_directory / "checkpoints" / "step-00000100"
    body = json.loads((made.path / "checkpoint.json").read_bytes())
    assert body["digest"] == digest(body["content"]) == made.digest
    assert body["content"]["spec"] == SPEC
    assert [entry["path"] for entry in body["content"]["files"]] == ["model.bin", "training.bin"]
    assert open_checkpoint(made.path, made.digest) == made


def test_the_digest_does_not_depend_on_the_attempt(run_directory: Path) -> None:
    first = save(run_directory, 5)
    start_attempt(run_directory, 2)
    again = save(run_directory, 5, attempt=2)
    assert again.digest == first.digest
    assert again.attempt == 1  # the one that is there stays
    assert [path.name for path in first.path.parent.iterdir()] == ["step-00000005"]


def test_a_step_with_another_content_fails_and_names_both(run_directory: Path) -> None:
    first = save(run_directory, 5)
    with pytest.raises(FactoryError) as caught:
        save(run_directory, 5, "other weights")
    assert caught.value.code == "checkpoint_differs"
    assert first.digest in str(caught.value)
    assert str(caught.value).count("by attempt") == 2
    assert open_checkpoint(first.path) == first


def test_only_the_newest_attempt_writes(run_directory: Path) -> None:
    start_attempt(run_directory, 2)
    with pytest.raises(FactoryError) as caught:
        save(run_directory, 5, attempt=1)
    assert caught.value.code == "stale_attempt"
    assert not (run_directory / "checkpoints").exists()


def test_an_attempt_that_is_replaced_while_it_writes_leaves_nothing(run_directory: Path) -> None:
    def slow(path: Path) -> None:
        path.write_text("weights")
        start_attempt(run_directory, 2)

    with pytest.raises(FactoryError) as caught:
        Checkpoints(run_directory, 1, SPEC).save(5, {"model.bin": slow}, {})
    assert caught.value.code == "stale_attempt"
    assert list((run_directory / "checkpoints").iterdir()) == []


@pytest.mark.parametrize("fault", ["flipped", "short", "missing"])
def test_a_damaged_file_is_named_with_both_values(run_directory: Path, fault: str) -> None:
    made = save(run_directory, 5)
    file = made.path / "model.bin"
    file.chmod(0o644)
    match fault:
        case "flipped":
            file.write_text("weightz")
        case "short":
            file.write_text("weight")
        case "missing":
            file.unlink()
    with pytest.raises(FactoryError) as caught:
        open_checkpoint(made.path)
    assert caught.value.code == "integrity"
    assert str(file) in str(caught.value)
    assert caught.value.found is not None
    assert caught.value.expected is not None


def test_a_changed_record_is_seen(run_directory: Path) -> None:
    made = save(run_directory, 5)
    record = made.path / "checkpoint.json"
    text = record.read_text().replace('"loss":1.5', '"loss":0.5')
    record.chmod(0o644)
    record.write_text(text)
    with pytest.raises(FactoryError) as caught:
        open_checkpoint(made.path)
    assert caught.value.code == "integrity"


def test_another_digest_than_the_one_asked_for_is_refused(run_directory: Path) -> None:
    made = save(run_directory, 5)
    with pytest.raises(FactoryError) as caught:
        open_checkpoint(made.path, "0" * 64)
    assert (caught.value.found, caught.value.expected) == (made.digest, "0" * 64)


def test_the_newest_valid_one_is_found_and_damaged_ones_are_noted(run_directory: Path) -> None:
    save(run_directory, 5)
    good = save(run_directory, 10)
    damaged = save(run_directory, 15)
    (damaged.path / "model.bin").unlink()
    half = run_directory / "checkpoints" / "step-00000020"
    half.mkdir()
    (half / "model.bin").write_text("weights")
    found, notes = newest(run_directory)
    assert found == good
    assert ["step-00000020" in notes[0], "step-00000015" in notes[1]] == [True, True]


def test_no_checkpoint_is_none(run_directory: Path) -> None:
    assert newest(run_directory) == (None, [])


def test_a_damaged_one_is_moved_aside_when_its_step_is_reached_again(run_directory: Path) -> None:
    damaged = save(run_directory, 15)
    (damaged.path / "model.bin").unlink()
    start_attempt(run_directory, 2)
    again = save(run_directory, 15, attempt=2)
    assert open_checkpoint(again.path).digest == damaged.digest
    assert sorted(path.name for path in again.path.parent.iterdir()) == ["step-00000015", "step-00000015.damaged-2"]
    assert newest(run_directory, 2)[0] == again


def test_a_checkpoint_of_another_spec_is_refused(run_directory: Path) -> None:
    save(run_directory, 5)
    with pytest.raises(FactoryError) as caught:
        Checkpoints(run_directory, 1, "cd" * 32).newest(lambda note: None)
    assert (caught.value.found, caught.value.expected) == (SPEC, "cd" * 32)


def test_what_a_kill_leaves_is_never_a_checkpoint_and_is_swept(run_directory: Path) -> None:
    program = (
        "import os, sys, time; from pathlib import Path; from aifactory.train.checkpoint import Checkpoints\n"
        "def slow(path):\n    path.write_text('half'); print('writing', flush=True); time.sleep(60)\n"
        f"Checkpoints(Path(sys.argv[1]), 1, '{SPEC}').save(5, {{'model.bin': slow}}, {{}})\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, run_directory], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"writing\n"
        os.kill(child.pid, signal.SIGKILL)
    assert [path.name[0] for path in (run_directory / "checkpoints").iterdir()] == ["."]
    assert newest(run_directory) == (None, [])
    Checkpoints(run_directory, 1, SPEC).sweep()
    assert list((run_directory / "checkpoints").iterdir()) == []


def test_a_full_disk_is_named_and_leaves_nothing(run_directory: Path) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(FactoryError) as caught:
            save(run_directory, 5, "w" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.code == "disk_full"
    assert list((run_directory / "checkpoints").iterdir()) == []


def test_what_reads_private_data_saves_nothing_under_public(tmp_path: Path) -> None:
    reads, grant = ["public/a/bpe", "private/clinic/notes"], Grant("private/clinic", "private/oncology", "board")
    for root, grants, allowed in (
        ("public", (), False),
        ("public", (grant,), False),
        ("private/oncology", (), False),
        ("private/oncology", (grant,), True),
        ("private/clinic", (), True),
    ):
        run = tmp_path / str(len(grants)) / root / "runs" / "train-1"
        (run / "attempts" / "00000001").mkdir(parents=True)
        checkpoints = Checkpoints(run, 1, SPEC, reads=reads, grants=grants)
        if allowed:
            assert checkpoints.save(5, writers(), {}).path.is_dir()
            continue
        with pytest.raises(FactoryError) as caught:
            checkpoints.save(5, writers(), {})
        assert caught.value.code == "class"
        assert f"private/clinic/notes -> the run train-1 in {root}/runs" in str(caught.value)
        assert not (run / "checkpoints").exists()


def test_a_file_of_a_checkpoint_that_became_a_symlink_is_not_read(run_directory: Path, tmp_path: Path) -> None:
    made = save(run_directory, 5)
    file = made.path / "model.bin"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FactoryError) as caught:
        open_checkpoint(made.path)
    assert caught.value.code == "integrity"
