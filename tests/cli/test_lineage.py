"""`aifactory lineage` over a small world: two trainings, a promotion, evaluations, a rollback, what was deleted."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from aifactory.launch import EvaluateTarget, plan
from aifactory.launch.lineage.graph import Node
from aifactory.launch.lineage.records import gather
from aifactory.namespace import Publications
from tests.cli.inside import RUN, Inside, start
from tests.launch.published import BPE, READY, SUITE, publish
from tests.launch.saved import LINE, put_run, save

GOLDEN = Path(__file__).parents[1] / "golden" / "lineage.txt"
FURTHER, SCORED, AGAIN = "train-further-000000000001", "evaluate-tiny-3-000000000002", "evaluate-tiny-3-000000000003"
SCORE = {"suites": [{"key": SUITE, "metric": "accuracy", "value": 0.75, "low": 0.5, "high": 1.0, "items": 12}]}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    made = start(tmp_path, monkeypatch)
    made.train(steps=(3, 4))
    scored = put_run(plan(EvaluateTarget(f"{RUN}/3")), SCORED)
    (scored / "results.json").write_text(json.dumps(SCORE))
    assert made("promote", f"{RUN}/3", "--why", "first").code == 0
    save(made.ns, plan("further"), FURTHER, 4, weights="further")
    put_run(plan(EvaluateTarget(LINE)), AGAIN)
    assert made("promote", f"{FURTHER}/4", "--why", "better").code == 0
    return made


def ids(lab: Inside, *arguments: str) -> dict[str, list[str]]:
    answer = lab("lineage", *arguments, "--json")
    assert answer.code == 0, answer.err
    return answer.json


def named(text: str) -> str:
    """Digests follow the machinery's own source: each gets the number in which it is met."""
    seen: dict[str, str] = {}
    return re.sub(r"\b[0-9a-f]{16,64}\b", lambda found: seen.setdefault(found[0], f"<{len(seen) + 1}>"), text)


def version(lab: Inside, key: str, n: int = 0) -> str:
    return lab("versions", key, "--json").json[n]["version"]


def test_it_is_shown_as_reviewed(lab: Inside) -> None:
    shown = [lab("lineage", *words).out for words in ((SCORED,), (BPE, "--up"), (LINE, "--down", "--depth", "3"))]
    written = named("\n".join(shown))
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(written)
    assert GOLDEN.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"


def test_from_a_score_down_to_the_files_of_its_sources_with_digests(lab: Inside) -> None:
    found = ids(lab, SCORED, "--down")
    assert "up" not in found
    nodes = found["nodes"]
    assert nodes[f"run {SCORED}"]["scores"][0]["value"] == 0.75
    ready, bpe = (f"{key}@{lab.made[key].version}" for key in (READY, BPE))
    assert {ready, bpe, f"run {RUN}", f"{SUITE}@{lab.made[SUITE].version}"} <= set(found["down"])
    (file,) = nodes[bpe]["files"]
    assert (file["path"], len(file["sha256"])) == ("tokenizer.json", 64)
    assert {one["id"] for one in nodes[ready]["made_from"]} == {bpe}


def test_from_a_source_up_to_every_model_and_score_that_it_touched(lab: Inside) -> None:
    found = ids(lab, BPE, "--up")
    models = {f"{LINE}@{version(lab, LINE, n)}" for n in (0, 1)}
    assert models <= set(found["up"])
    assert {f"run {run}" for run in (RUN, FURTHER, SCORED, AGAIN)} <= set(found["up"])
    assert f"models that it touched: {LINE}@" in lab("lineage", BPE).out
    assert ids(lab, SUITE, "--up")["up"] == [f"run {SCORED}", f"run {AGAIN}"]


def test_a_checkpoint_has_several_names_and_a_model_goes_back_through_the_line_that_it_began_with(lab: Inside) -> None:
    place = f"/factory/public/runs/{FURTHER}/checkpoints/step-00000004"
    digest = json.loads((lab.ns.local(place) / "checkpoint.json").read_bytes())["digest"]
    found = [ids(lab, name)["named"] for name in (f"{FURTHER}/4", place, digest[:12], f"{FURTHER}/step-00000004")]
    assert found == [[f"checkpoint {digest}"]] * 4
    down = ids(lab, LINE, "--down")["down"]
    assert {f"run {FURTHER}", f"run {RUN}", f"{LINE}@{version(lab, LINE, 1)}"} <= set(down)
    assert ids(lab, LINE, "--down", "--depth", "1")["down"] == [f"checkpoint {digest}"]


def test_a_key_is_its_current_version_unless_another_or_all_are_named(lab: Inside) -> None:
    old = lab.made[BPE].version
    publish(lab.ns, BPE, "tokenizer", {"tokenizer.json": "{}"})
    new = lab.ns.resolve(BPE).version
    assert ids(lab, BPE)["named"] == [f"{BPE}@{new}"]
    assert ids(lab, BPE)["up"] == []
    assert ids(lab, f"{BPE}@{old[:8]}")["named"] == [f"{BPE}@{old}"]
    assert ids(lab, f"/factory/{BPE}/@{old[:16]}")["named"] == [f"{BPE}@{old}"]
    both = ids(lab, BPE, "--all")
    assert both["named"] == [f"{BPE}@{new}", f"{BPE}@{old}"]
    assert f"run {RUN}" in both["up"]
    assert both["nodes"][f"{BPE}@{old}"]["state"] == "older"


def test_what_was_rolled_back_is_told_so_and_keeps_its_place(lab: Inside) -> None:
    first, second = version(lab, LINE, 1), version(lab, LINE, 0)
    Publications(lab.ns, LINE).rollback(first, writer="ada", why="it was better")
    nodes = ids(lab, BPE, "--up")["nodes"]
    assert (nodes[f"{LINE}@{first}"]["state"], nodes[f"{LINE}@{second}"]["state"]) == ("current", "rolled back")


def test_what_was_deleted_by_hand_is_missing_and_hides_nothing(lab: Inside) -> None:
    shutil.rmtree(lab.made[READY].path)
    shutil.rmtree(lab.ns.class_root("public") / "runs" / RUN)
    found = ids(lab, SCORED, "--down")
    ready = f"{READY}@{lab.made[READY].version}"
    assert found["nodes"][ready]["state"] == "missing"
    assert found["nodes"][f"run {RUN}"]["state"] == "missing"
    assert f"{BPE}@{lab.made[BPE].version}" in found["down"]
    (checkpoint,) = [name for name in found["down"] if name.startswith("checkpoint ")]
    assert found["nodes"][checkpoint]["state"] == "missing"
    assert "MISSING" in lab("lineage", SCORED).out
    assert ids(lab, f"{RUN}/3")["named"] == [checkpoint]


def test_a_damaged_record_is_named_and_hides_no_other(lab: Inside) -> None:
    run = lab.ns.class_root("public") / "runs" / FURTHER
    (run / "checkpoints" / "step-00000004" / "checkpoint.json").write_text("torn")
    (lab.ns.directory(SUITE) / "@journal" / "00000001.json").chmod(0o644)
    (lab.ns.directory(SUITE) / "@journal" / "00000001.json").write_text("torn")
    found = ids(lab, SCORED, "--down")
    assert len(found["unreadable"]) == 0
    assert {one.split(":")[0] for one in found["damaged"]} == {f"{FURTHER}/step-00000004", SUITE}
    assert found["nodes"][f"{SUITE}@{lab.made[SUITE].version}"]["state"] == "unknown"
    assert "left out, since it is damaged" in lab("lineage", SCORED).out


def test_a_private_tree_is_followed_where_it_may_be_read_and_named_where_not(lab: Inside) -> None:
    notes = publish(lab.ns, "private/clinic/notes/raw", "table", {"rows": "r"}, inputs={BPE: lab.made[BPE].version})
    node = f"private/clinic/notes/raw@{notes.version}"
    found = ids(lab, BPE, "--up")
    assert node in found["up"]
    assert found["unreadable"] == []
    clinic = lab.ns.root / "private" / "clinic"
    clinic.chmod(0)
    try:
        other = as_another_user(lab, lambda: seen(lab, f"{BPE}@{lab.made[BPE].version}"))
    finally:
        clinic.chmod(0o755)
    assert node not in other.get("up", [node]), other
    assert set(other["up"]) == set(found["up"]) - {node}, other
    assert other["unreadable"] == ["private/clinic"]


def seen(lab: Inside, name: str) -> dict[str, list[str]]:
    records = gather(lab.ns)
    reached = records.lineage.reach(Node("snapshot", name), "up")
    return {"up": [node.id for node in reached], "unreadable": list(records.unreadable)}


def as_another_user(lab: Inside, work: Callable[[], dict[str, list[str]]]) -> dict[str, list[str]]:
    """What `work` gives in a process that may not read what is closed: root may read all, and becomes nobody."""
    if os.geteuid() != 0:
        return work()
    for place in (lab.ns.root, *lab.ns.root.parents):
        if place.stat().st_uid == 0 and str(place).startswith(tempfile.gettempdir() + "/"):
            place.chmod(0o755)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            os.write(write, json.dumps(work()).encode())
        except BaseException as error:
            os.write(write, json.dumps({"error": repr(error)}).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return dict(json.loads(said))


@pytest.mark.parametrize(
    ("name", "code", "exit"),
    [
        ("public/probe/redy", "unpublished", 2),
        (f"{READY}@11111111", "version", 2),
        ("train-tiny-0123456789ac", "unknown_target", 2),
        (f"{RUN}/9", "unknown_checkpoint", 2),
        ("train-tiny-9/3", "unknown_run", 2),
        ("public/models/other", "unpublished", 2),
        ("Not a key", "unknown_target", 2),
    ],
)
def test_what_names_nothing_is_an_error_with_what_there_is(lab: Inside, name: str, code: str, exit: int) -> None:
    answer = lab("lineage", name, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (exit, code)
    assert answer.json["error"]["fix"]
