"""`aifactory diff` as a person and a machine use it."""

import os
import re
from pathlib import Path

from tests.cli.conftest import Lab
from tests.orchestrate.lab import LETTERS

GOLDEN = Path(__file__).parents[1] / "golden" / "diff_command.txt"


def run_of(lab: Lab, key: str) -> str:
    return next(run["run"] for run in lab("runs", "--kind", "build", "--json").json if run["target"] == key)


def test_a_run_and_itself_are_identical(built: Lab):
    run = run_of(built, "public/letters/clean")
    answer = built("diff", run, run)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[-1] == "identical except: []"
    assert built("diff", run, run, "--json").json["fields"] == []


def test_a_run_and_the_plan_of_its_stage_differ_in_context_alone(built: Lab):
    run = run_of(built, "public/letters/clean")
    found = built("diff", run, "public/letters/clean", "--json").json
    assert found["identical_except"] == []
    assert found["old"]["spec"] == found["new"]["spec"]
    assert {one["group"] for one in found["fields"]} == {"context"}


def test_a_stage_whose_code_and_input_moved_is_told_as_reviewed(built: Lab):
    run = run_of(built, "public/letters/clean")
    spec = built("runs", run, "--json").json["hash"]
    moved = LETTERS.replace("range(26)", "range(25)").replace("rows(26)", "rows(25)").replace("upper()", "title()")
    built.write("assets/public/letters.py", moved)
    answer = built("launch", "public/letters/raw")
    assert answer.code == 0, answer.err
    answer = built("diff", spec[:8], "public/letters/clean")
    assert answer.code == 0, answer.err
    text = "\n".join(answer.out.splitlines()[2:]) + "\n"
    # Digests follow the machinery and the libraries that write Parquet, and so do bytes.
    text = re.sub(r"\b[0-9a-f]{16}\b", "<digest>", text)
    text = re.sub(r"bytes [\d,]+ -> [\d,]+ \(.*?\)", "bytes <old> -> <new>", text)
    text = text.partition("context (")[0]
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(text)
    assert GOLDEN.read_text() == text, "review the change, then run this with AIFACTORY_GOLDEN=write"


def test_what_was_never_launched_is_wrong_usage_with_a_fix(built: Lab):
    run = run_of(built, "public/letters/clean")
    for name, code in (
        ("train-tiny-0123456789ab", "unknown_run"),
        ("0123456789abcdef", "unknown_spec"),
        ("nonsense", "unknown_target"),
    ):
        answer = built("diff", run, name, "--json")
        assert answer.code == 2
        assert answer.json["error"]["code"] == code
        assert answer.json["error"]["fix"]
        assert "Traceback" not in answer.err


def test_an_edited_spec_file_is_refused(built: Lab, tmp_path: Path):
    spec = Path(built("plan", "public/letters/raw", "--json").json["path"])
    edited = tmp_path / "spec.json"
    edited.write_text(spec.read_text().replace("public/letters/raw", "public/letters/row"))
    answer = built("diff", str(spec), str(edited))
    assert answer.code == 1
    assert "edited" in answer.err
    assert built("diff", str(spec), str(spec)).code == 0
