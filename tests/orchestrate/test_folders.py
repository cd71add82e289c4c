from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from aifactory.errors import FactoryError
from aifactory.orchestrate.folders import defined

JOB = "import dagster as dg\n@dg.op\ndef nothing(): ...\n@dg.job\ndef {name}():\n    nothing()\n"


def write(root: Path, name: str, text: str) -> None:
    (root / "jobs").mkdir(exist_ok=True)
    (root / "jobs" / name).write_text(text)


def test_a_file_is_enough(tmp_path: Path) -> None:
    write(tmp_path, "b.py", JOB.format(name="second"))
    write(tmp_path, "a.py", JOB.format(name="first"))
    assert [job.name for job in defined(tmp_path, "jobs", (dg.JobDefinition,))] == ["first", "second"]


def test_a_folder_that_is_not_there_defines_nothing(tmp_path: Path) -> None:
    assert defined(tmp_path, "jobs", (dg.JobDefinition,)) == []


def test_one_name_in_two_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.py", JOB.format(name="same"))
    write(tmp_path, "b.py", JOB.format(name="same"))
    with pytest.raises(FactoryError, match="'same' is defined twice") as error:
        defined(tmp_path, "jobs", (dg.JobDefinition,))
    assert (error.value.found, error.value.expected) == ("b.py", "only in a.py")


def test_a_file_that_raises_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "1 / 0")
    with pytest.raises(FactoryError, match=r"a.py can't be imported: ZeroDivisionError"):
        defined(tmp_path, "jobs", (dg.JobDefinition,))
