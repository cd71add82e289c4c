"""What is said of each recorded state, and that what is missing changes no more than it must."""

from __future__ import annotations

import copy
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.launch.kuberay.observe import REASONS, Changes, Recall, explain, gave_up, observe
from tests.launch.kuberay.observe.recorded import NAMES, recorded, seen

GOLDEN = Path(__file__).parents[3] / "golden" / "observed.txt"
CANARY = "Canary"


def test_every_recorded_state_is_told_as_reviewed() -> None:
    lines = []
    for name in NAMES:
        at, _ = recorded(name)
        one = seen(name)
        how = f" -> {one.outcome}" if one.outcome else ""
        lines.append(f"{name} [{one.code}{how}]\n  {one.line(at)}\n")
    written = "\n".join(lines)
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(written)
    assert GOLDEN.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"


def test_nothing_that_a_container_said_stands_in_a_text() -> None:
    assert any(CANARY in json.dumps(recorded(name)[1]) for name in NAMES)
    for name in NAMES:
        one = seen(name)
        assert CANARY not in one.text
        assert CANARY not in str(dict(one.detail))
        assert one.failure is None or CANARY not in one.failure.text


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_any_part_may_be_missing(name: str, data: st.DataObject) -> None:
    at, objects = recorded(name)
    for key in data.draw(st.lists(st.sampled_from(sorted(objects)), unique=True)):
        objects[key] = None if key in ("rayjob", "workload", "pending") else []
    _prune(objects, data)
    found = observe(**{"now": at, "rayjob": None, **objects})
    assert found.code in REASONS
    assert (found.outcome is not None) == (found.phase == "ended")


def _prune(value: Any, data: st.DataObject) -> None:
    """Take some keys away, up to three levels down."""
    for _ in range(data.draw(st.integers(0, 3))):
        place = value
        for _ in range(data.draw(st.integers(1, 4))):
            if isinstance(place, list):
                if not place:
                    return
                place = place[data.draw(st.integers(0, len(place) - 1))]
            if not isinstance(place, dict) or not place:
                return
            key = data.draw(st.sampled_from(sorted(place)))
            if not isinstance(place[key], dict | list):
                break
            place, parent = place[key], place
        else:
            parent.pop(key, None)
            continue
        place.pop(key, None)


def test_an_unknown_priority_class_is_named_once_somebody_has_looked() -> None:
    at, _ = recorded("kueue_no_priority")
    later = at + timedelta(minutes=1)
    assert seen("kueue_no_priority", now=later).code == "kueue_silent"
    named = seen("kueue_no_priority", now=later, priority=False)
    assert named.code == "kueue_no_priority"
    assert "golden" in named.text
    assert named.phase == "queued"


@pytest.mark.parametrize("name", ["kueue_no_queue", "kueue_never_fits", "kueue_no_priority"])
def test_a_wait_that_only_a_person_can_end_ends_after_the_patience(name: str) -> None:
    at, _ = recorded(name)
    more: dict[str, Any] = {"priority": False} if name == "kueue_no_priority" else {}
    assert seen(name, patience=60, now=at + timedelta(seconds=30), **more).phase == "queued"
    over = seen(name, patience=60, now=at + timedelta(seconds=90), **more)
    assert (over.phase, over.code, over.outcome) == ("ended", name, "failed_infrastructure")
    assert not REASONS[over.code].again


@pytest.mark.parametrize("name", ["kueue_quota_first", "kueue_stopped", "kueue_paused", "no_room", "pod_quota"])
def test_any_other_wait_goes_on(name: str) -> None:
    at, _ = recorded(name)
    assert seen(name, now=at + timedelta(days=2)).outcome is None


def test_who_took_the_place_is_named_where_it_is_known() -> None:
    _, objects = recorded("preempted_at_once")
    uid = json.dumps(objects["workload"]).split("JobUID: ")[1].split(")")[0]
    assert "run-high" in seen("preempted_at_once", others={uid: "run-high"}).text


def test_the_numbers_of_a_quota_are_no_news_and_a_place_is() -> None:
    at, objects = recorded("kueue_quota_behind")
    changes = Changes()
    assert changes.take(observe(**objects, now=at), at) is not None
    other = copy.deepcopy(objects)
    for one in other["workload"]["status"]["conditions"]:
        one["message"] = one["message"].replace("300m", "250m")
    assert changes.take(observe(**other, now=at + timedelta(hours=1)), at) is None
    other["pending"] = [one for one in other["pending"] if one["positionInClusterQueue"] > 0]
    assert "place 1" not in observe(**objects, now=at).text
    other["pending"][0]["positionInClusterQueue"] = 0
    line = changes.take(observe(**other, now=at), at)
    assert line is not None
    assert "place 1" in line


def test_far_back_in_a_queue_only_tens_are_news() -> None:
    at, objects = recorded("kueue_quota_behind")
    name = objects["rayjob"]["metadata"]["name"]

    def line(place: int) -> list[dict[str, Any]]:
        return [
            {"positionInClusterQueue": at, "metadata": {"ownerReferences": [{"name": f"run-{at}"}]}}
            for at in range(place)
        ] + [{"positionInClusterQueue": place, "metadata": {"ownerReferences": [{"name": name}]}}]

    changes = Changes()
    told = [changes.take(observe(**objects | {"pending": line(place)}, now=at), at) for place in range(199, -1, -1)]
    lines = [one for one in told if one is not None]
    assert len(lines) == 29
    assert "behind run-198, run-197, run-196 and 196 more" in lines[0]
    assert "about place 1 of 1 in line" in lines[-1]


def test_an_evicted_pod_is_remembered_when_it_has_gone() -> None:
    at, objects = recorded("drained_node")
    recall = Recall()
    assert recall.take(objects["pods"]) == []
    left = [pod for pod in objects["pods"] if not pod["metadata"].get("deletionTimestamp")]
    former = recall.take(left)
    assert [pod["metadata"]["name"] for pod in former] == [
        pod["metadata"]["name"] for pod in objects["pods"] if pod["metadata"].get("deletionTimestamp")
    ]
    objects["rayjob"]["status"] |= {"jobStatus": "FAILED"}
    over = observe(**objects | {"pods": left, "former": former}, now=at)
    assert (over.code, over.outcome) == ("evicted", "failed_infrastructure")


@pytest.mark.parametrize(
    ("name", "code"),
    [("oom_worker_at_once", "oom_kill"), ("drained_node", "evicted"), ("node_gone", "node_lost"), ("running", None)],
)
def test_what_the_cluster_did_explains_a_driver_that_failed(name: str, code: str | None) -> None:
    _, objects = recorded(name)
    objects.pop("pending", None)
    found = explain(**objects)
    assert (found.code if found else None) == code
    assert found is None or found.outcome != "failed_code"


def test_a_budget_says_what_the_attempt_waited_for() -> None:
    over = gave_up(seen("no_room"), "start", 600)
    assert (over.phase, over.outcome, over.code) == ("ended", "deadline", "deadline_start")
    assert "600 s" in over.text
    assert "Insufficient cpu" in over.text


def test_a_job_that_has_gone_is_lost_and_one_that_never_was_is_not() -> None:
    assert observe(None).phase == "unknown"
    gone = observe(None, known=True)
    assert (gone.phase, gone.outcome, gone.code) == ("ended", "lost", "gone")
