"""A failed attempt as the UI shows it: outcome, evidence, fix."""

from __future__ import annotations

from pathlib import Path

from aifactory.channel.payloads import Failure
from aifactory.launch.runs.incident import FILE, FOLDER, ContainerState, Incident, Kept, Told
from aifactory.launch.runs.result import RunResult
from aifactory.orchestrate.pipes import ended_badly
from aifactory.store import Store

INCIDENT = Incident(
    run="train-tiny-0123456789ab",
    attempt=1,
    cluster="lab",
    job="train-tiny-0123456789ab-1",
    outcome="failed_infrastructure",
    code="oom_kill",
    text="worker of train-1-worker-x was killed for memory, its limit is 4Gi",
    fix="ask for a shape with more memory, or a smaller batch",
    at="2026-12-01T14:10:00+00:00",
    since="2026-12-01T14:09:00Z",
    containers=(
        ContainerState(pod="train-1-head-x", container="head", node="a", state="running"),
        ContainerState(
            pod="train-1-worker-x",
            container="worker",
            node="b",
            state="terminated",
            reason="OOMKilled",
            exit_code=137,
            memory_limit="4Gi",
            log="train-1-worker-x.worker.log",
        ),
    ),
    events=(Told(at="2026-12-01T14:09:00Z", kind="Pod", name="train-1-worker-x", reason="Killing", message="a | b"),),
    files=(Kept(name="train-1-worker-x.worker.log", bytes=1234),),
    missing=("the log train-1-head-x.head.log: forbidden",),
)


def failed(directory: Path, incident: Incident | None) -> dict[str, object]:
    error = Failure(type="OomKill", text=INCIDENT.text, code="oom_kill")
    result = RunResult(INCIDENT.run, directory, "failed_infrastructure", 1, (), error)
    if incident is not None:
        Store(directory / "attempts" / "00000001" / FOLDER).put(FILE, incident.model_dump_json().encode())
    shown = ended_badly(result, "training tiny")
    assert INCIDENT.text in (shown.description or "")
    return {name: value.value for name, value in shown.metadata.items()}


def test_outcome_evidence_and_fix_are_shown(tmp_path: Path) -> None:
    shown = failed(tmp_path, INCIDENT)
    assert (shown["outcome"], shown["code"], shown["fix"]) == (INCIDENT.outcome, "oom_kill", INCIDENT.fix)
    evidence = str(shown["evidence"])
    rows = [line for line in evidence.splitlines() if line.startswith("| train-1")]
    assert "OOMKilled | 137 | 0 | 4Gi | b" in rows[0], "what failed stands first"
    assert "a \\| b" in evidence, "a message can't break the table"
    assert "forbidden" in evidence
    assert str(shown["evidence kept in"]).endswith("00000001/incident")


def test_without_evidence_outcome_and_fix_stay(tmp_path: Path) -> None:
    shown = failed(tmp_path, None)
    assert shown["fix"] == INCIDENT.fix
    assert "evidence" not in shown
