"""The command as a person and a machine use it: what it prints, what it changes, how it exits."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from aifactory.namespace import Audit, Audits, Namespace
from tests.cli.conftest import Lab
from tests.orchestrate.lab import CHECKOUT

COMMANDS = ("plan", "launch", "diff", "runs", "path", "versions", "promote", "rollback", "image", "doctor")


def test_help_names_every_command_and_the_exit_codes(lab: Lab):
    answer = lab("--help")
    assert answer.code == 0
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b", answer.out)
    assert "3 refused" in answer.out


def test_help_of_a_command_describes_its_options(lab: Lab):
    answer = lab("launch", "--help")
    assert answer.code == 0
    for word in ("--cluster", "--run", "--json", "Ctrl-C"):
        assert word in answer.out


def test_help_loads_neither_dagster_nor_what_trains(lab: Lab):
    script = (
        "import sys; import aifactory.cli.app\n"
        "heavy = {'dagster', 'torch', 'ray', 'kubernetes', 'pyarrow', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_no_command_is_wrong_usage(lab: Lab):
    assert lab("nonsense").code == 2
    assert lab("plan").code == 2


def test_a_plan_freezes_a_spec_and_writes_nothing_else(lab: Lab):
    answer = lab("plan", "public/letters/raw", "--json")
    assert answer.code == 0, answer.err
    plan = answer.json
    assert re.fullmatch(r"[0-9a-f]{64}", plan["hash"])
    assert plan["kind"] == "build"
    assert Path(plan["path"]).is_file()
    written = {path.relative_to(lab.namespace).parts[:3] for path in lab.namespace.rglob("*") if path.is_file()}
    assert written == {("public", "specs", plan["hash"])}


def test_the_same_plan_has_the_same_hash(lab: Lab):
    first, second = (lab("plan", "public/letters/raw", "--json").json["hash"] for _ in range(2))
    assert first == second
    assert first in lab("plan", "public/letters/raw").out


def test_a_plan_whose_inputs_are_not_built_is_refused_naming_them(lab: Lab):
    answer = lab("plan", "public/letters/clean", "--json")
    assert answer.code == 3
    (refusal,) = answer.json["error"]["refusals"]
    assert refusal["code"] == "input_not_built"
    assert "public/letters/raw" in refusal["what"] + refusal["found"]
    assert refusal["fix"]
    assert "Traceback" not in answer.err


def test_an_unknown_name_is_wrong_usage_and_names_what_is_like_it(lab: Lab):
    answer = lab("plan", "public/letters/claen")
    assert answer.code == 2
    assert "public/letters/claen" in answer.err
    assert "public/letters/clean" in answer.err


def test_an_unknown_cluster_is_refused(lab: Lab):
    answer = lab("launch", "public/letters/raw", "--cluster", "moon")
    assert answer.code in (2, 3)
    assert "moon" in answer.err
    assert "local" in answer.err


def test_launch_prints_the_run_first_and_what_it_built(built: Lab):
    answer = built("launch", "public/letters/raw", "--json")
    assert answer.code == 0, answer.err
    assert answer.err.splitlines()[0].startswith(f"run {answer.json['run']}   spec ")
    assert answer.json["outcome"] == "succeeded"
    assert "public/letters/raw@" in answer.err


def test_a_frozen_spec_is_launched_by_its_hash(built: Lab):
    frozen = built("plan", "public/letters/clean", "--json").json["hash"]
    answer = built("launch", frozen, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["spec"] == frozen


def test_launch_spec_takes_the_first_digits_of_a_hash_and_nothing_beside_it(built: Lab):
    frozen = built("plan", "public/letters/clean", "--json").json["hash"]
    answer = built("launch", "--spec", frozen[:12], "--json")
    assert answer.code == 0, answer.err
    assert answer.json["spec"] == frozen
    for wrong in (["--spec", frozen, "steps=1"], ["public/letters/raw", "--spec", frozen], []):
        answer = built("launch", *wrong)
        assert answer.code == 2
        assert "--spec" in answer.err
    answer = built("launch", "--spec", "0" * 64, "--json")
    assert answer.code == 2
    assert answer.json["error"]["code"] == "unknown_spec"
    assert answer.json["error"]["fix"]


def test_a_failed_build_exits_1_with_its_error_and_log(lab: Lab):
    lab.write(
        "assets/public/broken.py",
        "import pyarrow as pa\nfrom aifactory.datasets import dataset\n\n\n"
        '@dataset()\ndef raw() -> pa.Table:\n    """Fails."""\n    raise ValueError("the source is empty")\n',
    )
    answer = lab("launch", "public/broken/raw", "--json")
    assert answer.code == 1
    assert answer.json["outcome"] == "failed_code"
    assert "the source is empty" in answer.err
    assert "Traceback" not in answer.err
    log = re.search(r"log: (\S+)", answer.err)
    assert log is not None
    assert Path(log[1]).is_file()


def test_runs_lists_and_shows_what_ran(built: Lab):
    runs = built("runs", "--kind", "build", "--json").json
    assert [run["target"] for run in runs] == ["public/letters/clean", "public/letters/raw"]
    assert {run["state"] for run in runs} == {"succeeded"}
    shown = built("runs", runs[0]["run"])
    assert shown.code == 0, shown.err
    for text in (runs[0]["run"], runs[0]["hash"], "public/letters/raw@", "attempt 1", "driver.log"):
        assert text in shown.out
    assert built("runs", runs[0]["run"], "--json").json["tries"][0]["outcome"] == "succeeded"


def test_an_unknown_run_is_wrong_usage(built: Lab):
    answer = built("runs", "build-nothing-000000000000")
    assert answer.code == 2
    assert "build-nothing-000000000000" in answer.err


def test_path_prints_where_a_name_stands(built: Lab):
    plain = built("path", "public/letters/clean")
    found = built("path", "public/letters/clean", "--json").json
    assert plain.out.strip() == found["path"]
    assert Path(found["path"]).is_dir()
    assert built("path", found["canonical"]).out == plain.out
    assert built("path", f"public/letters/clean@{found['version'][:12]}").out == plain.out
    files = built("path", "public/letters/clean", "--files", "--verify").out.splitlines()
    assert files
    assert all(Path(file).is_file() for file in files)


def test_path_refuses_what_is_no_key(built: Lab):
    for name in ("public/../private/x", "public/Letters", "/etc/passwd"):
        answer = built("path", name)
        assert answer.code != 0
        assert "Traceback" not in answer.err


def test_path_verify_names_a_file_that_was_altered(built: Lab, flip: Callable[[Path], None]):
    (file, *_) = built("path", "public/letters/clean", "--files").out.split()
    flip(Path(file))
    answer = built("path", "public/letters/clean", "--verify")
    assert answer.code == 1
    assert Path(file).name in answer.err


def test_rollback_makes_an_earlier_version_current_and_says_why(built: Lab):
    before = built("path", "public/letters/clean", "--json").json["version"]
    file = built.project / "assets/public/letters.py"
    file.write_text(file.read_text().replace("letter.name.upper()", "letter.name.upper() * 2"))
    assert built("launch", "public/letters/clean").code == 0
    after = built("path", "public/letters/clean", "--json").json["version"]
    assert after != before
    answer = built("rollback", "public/letters/clean", before[:10], "--why", "doubled letters")
    assert answer.code == 0, answer.err
    assert built("path", "public/letters/clean", "--json").json["version"] == before
    newest, *_ = built("versions", "public/letters/clean", "--json").json
    assert newest["action"] == "rollback"
    assert newest["why"] == "doubled letters"
    assert newest["current"]
    assert "doubled letters" in built("versions", "public/letters/clean").out


def test_rollback_to_a_version_that_is_red_by_now_warns_of_what_the_gate_will_say(built: Lab):
    key = "public/letters/raw"
    before = built("path", key, "--json").json["version"]
    file = built.project / "assets/public/letters.py"
    file.write_text(file.read_text().replace("range(26)", "range(27)").replace("[rows(26)]", "[]"))
    assert built("launch", key).code == 0
    Audits(Namespace(built.namespace), key, before).add(Audit(check="rows", passed=False, reason="26 of 27 letters"))
    answer = built("rollback", key, before[:10], "--why", "letters are wrong", "--json")
    assert answer.code == 0, answer.err
    assert f"warning: [check_red] the blocking check rows of {key}@{before[:16]} is red" in answer.err
    (warning,) = answer.json["warnings"]
    assert (warning["code"], warning["found"]) == ("check_red", "26 of 27 letters")
    planned = built("plan", "public/letters/clean")
    assert planned.code == 3
    assert "check_red" in planned.out + planned.err


def test_rollback_to_a_version_that_never_was_changes_nothing(built: Lab):
    before = built("versions", "public/letters/clean").out
    answer = built("rollback", "public/letters/clean", "0" * 16, "--why", "no reason")
    assert answer.code == 2
    assert built("versions", "public/letters/clean").out == before


def test_versions_of_a_key_that_was_never_published_names_close_ones(built: Lab):
    answer = built("versions", "public/letters/claen")
    assert answer.code == 2
    assert "public/letters/clean" in answer.err


def test_doctor_finds_a_healthy_lab_healthy(built: Lab):
    answer = built("doctor", "--json")
    assert answer.code == 0, answer.out
    assert answer.json["healthy"]
    assert {"python", "disk", "root", "services", "sources"} <= {one["name"] for one in answer.json["findings"]}


def test_doctor_names_a_flipped_byte_and_a_missing_record(built: Lab, flip: Callable[[Path], None]):
    (file, *_) = built("path", "public/letters/clean", "--files").out.split()
    flip(Path(file))
    (built.namespace / "public/letters/raw/@journal/00000001.json").unlink()
    answer = built("doctor", "--verify")
    assert answer.code == 1
    assert Path(file).name in answer.out
    assert "public/letters/raw" in answer.out


def test_doctor_names_a_mirror_that_is_not_there(lab: Lab):
    answer = lab("doctor", AIFACTORY_MIRROR=str(lab.root / "nowhere"))
    assert answer.code == 1
    assert str(lab.root / "nowhere") in answer.out
    assert "AIFACTORY_MIRROR" in answer.out


def test_doctor_mends_what_people_see_of_a_journal(built: Lab):
    shown = built.namespace / "public/letters/clean/@current"
    right = shown.readlink()
    shown.unlink()
    answer = built("doctor")
    assert answer.code == 0
    assert "@current" in answer.out
    assert shown.readlink() == right


def test_images_are_listed_with_the_checkouts_own_marked(built: Lab):
    images = built("image", "list", "--json").json
    assert [image["name"] for image in images if image["present"]] == ["data"]
    assert built("image", "path", "data").out.strip() == images[0]["path"]


def test_a_closed_pipe_ends_the_command_quietly(built: Lab):
    command = f"{sys.executable} -m aifactory.cli runs --json | head -1"
    done = subprocess.run(
        ["bash", "-c", command], env=built.environment, cwd=built.root, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr


def test_ctrl_c_stops_the_run_that_was_launched(lab: Lab):
    lab.write(
        "assets/public/slow.py",
        "import time\nimport pyarrow as pa\nfrom aifactory.datasets import dataset\n\n\n"
        '@dataset()\ndef raw() -> pa.Table:\n    """Takes long."""\n    time.sleep(600)\n    return pa.table({})\n',
    )
    command = [sys.executable, "-m", "aifactory.cli", "launch", "public/slow/raw"]
    child = subprocess.Popen(command, env=lab.environment, cwd=lab.root, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not list(lab.namespace.glob("public/runs/*/attempts/*/process.json")):
        assert time.monotonic() < until
        time.sleep(0.1)
    child.send_signal(2)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "cancelled" in said
    assert lab("runs", "--json").json[0]["state"] == "cancelled"


def test_a_command_of_one_checkout_is_refused_in_another(tmp_path: Path):
    other = tmp_path / "other"
    (other / "src" / "aifactory").mkdir(parents=True)
    (other / "src" / "aifactory" / "errors.py").write_text("")
    (other / "pyproject.toml").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "aifactory.cli", "runs", "--json"],
        env={name: value for name, value in os.environ.items() if not name.startswith("AIFACTORY_")},
        cwd=other,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "second_checkout"
    assert str(other) in done.stderr
    assert str(CHECKOUT) in done.stderr
