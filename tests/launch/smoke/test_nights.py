"""Thirty nights acted out with a clock of our own: what ran, what was skipped, and why, as a golden file."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from aifactory.launch.images.verifications import Verification
from aifactory.launch.smoke.decide import Decision, Pair, Past, Rule, decide

GOLDEN = Path(__file__).parents[2] / "golden" / "smoke_nights.txt"
CLUSTERS = ("east", "west", "south")
FIRST = datetime(2026, 11, 1, 1, tzinfo=UTC)
IMAGES = {1: "a", 4: "b", 9: "c", 15: "d", 20: "e", 26: "f"}
"""The night before which an image is pinned: the first one, and five changes."""
RED = {(9, "west"), (20, "east")}
DOWN = {(night, "south") for night in range(14, 17)}
SLOW = {(26, "west")}
"""Smokes that are still at it on the next night."""


class Factory:
    """What the records would hold, and the table of what was decided."""

    def __init__(self) -> None:
        self.proofs: list[Verification] = []
        self.history: list[Past] = []
        self.table: list[str] = []
        self.ran: Counter[str] = Counter()

    def night(self, number: int, image: str) -> None:
        now = FIRST + timedelta(days=number - 1)
        self._end_slow_ones(now)
        pairs = [
            Pair(image * 64, f"sha256:{image * 64}", name, "its API server is away" if (number, name) in DOWN else "")
            for name in CLUSTERS
        ]
        for one in decide(now, pairs, self.proofs, self.history, Rule(version=1)):
            self.table.append(f"night {number:02d}  {one.text}{self._act(number, now, one)}")

    def _act(self, number: int, now: datetime, one: Decision) -> str:
        if one.action != "run":
            return ""
        pair = one.pair
        self.ran[pair.cluster] += 1
        run = f"smoke-{pair.cluster}-{number:012x}"
        live = Past(run, pair.digest, pair.cluster, "live", now, "running", f"/runs/{number}-{pair.cluster}")
        if (number, pair.cluster) in SLOW:
            self.history.append(live)
            return " -> goes on"
        red = (number, pair.cluster) in RED
        self._end(live, pair.oci, red=red, at=now + timedelta(minutes=6))
        return " -> RED" if red else " -> green"

    def _end(self, live: Past, oci: str, *, red: bool, at: datetime) -> None:
        self.history.append(replace(live, state="red" if red else "green", outcome="failed_code" if red else "done"))
        if not red:
            self.proofs.append(Verification(live.digest, oci, live.run, live.cluster, at.isoformat(), 1))

    def _end_slow_ones(self, now: datetime) -> None:
        for one in [one for one in self.history if one.state == "live" and now - one.at > timedelta(days=1)]:
            self.history.remove(one)
            self._end(one, f"sha256:{one.digest}", red=False, at=now)


def test_thirty_nights_run_what_must_run_and_nothing_else() -> None:
    factory = Factory()
    image = ""
    for number in range(1, 31):
        image = IMAGES.get(number, image)
        factory.night(number, image)
    written = "\n".join(factory.table) + "\n"
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(written)
    assert GOLDEN.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"
    # Six images; a red one costs a second run, and what came while a cluster was down waits for it.
    assert factory.ran == {"east": 7, "west": 7, "south": 6}


def past(state: str, *, days: float = 1.0, image: str = "a", cluster: str = "east") -> Past:
    return Past("smoke-east-1", image * 64, cluster, state, FIRST - timedelta(days=days), link="/runs/1")  # type: ignore[arg-type]


def proof(*, days: float = 1.0, smoke: int = 1, cluster: str = "east", oci: str = "a") -> Verification:
    at = (FIRST - timedelta(days=days)).isoformat()
    return Verification("a" * 64, f"sha256:{oci * 64}", "smoke-east-1", cluster, at, smoke)


def only(
    proofs: list[Verification], history: list[Past] | None = None, *, down: str = "", rule: Rule | None = None
) -> Decision:
    pair = Pair("a" * 64, f"sha256:{'a' * 64}", "east", down)
    (found,) = decide(FIRST, [pair, pair], proofs, history or [], rule or Rule(1))
    return found


def test_a_proof_is_of_this_image_as_it_is_pulled_on_this_cluster_by_this_version_of_the_smoke() -> None:
    assert only([proof()]).action == "skip"
    for other in (proof(cluster="west"), proof(oci="b"), proof(smoke=2), proof(smoke=0)):
        assert only([other]).action == "run"
    assert "of version 2 of the smoke, not of 1" in only([proof(smoke=2)]).why


def test_a_skip_names_its_proof_and_leads_to_it() -> None:
    found = only([proof()], [past("green")])
    assert (found.run, found.link) == ("smoke-east-1", "/runs/1")
    assert found.text.endswith("green: verified by smoke-east-1 on 2026-10-31 01:00 (/runs/1)")


def test_an_old_proof_runs_again_only_where_a_number_of_days_is_set() -> None:
    old = proof(days=400)
    assert only([old]).action == "skip"
    again = only([old], rule=Rule(1, proof_days=30))
    assert (again.action, "older than 30 days" in again.why) == ("run", True)
    assert only([old, proof(days=29)], rule=Rule(1, proof_days=30)).action == "skip"


def test_a_cluster_that_is_down_is_told_whatever_else_is_known() -> None:
    for proofs, history in (([proof()], []), ([], [past("live")]), ([], [])):
        assert (only(proofs, history, down="away").action, only(proofs, history, down="away").why) == ("down", "away")


def test_what_is_at_it_is_waited_for_and_a_red_one_named() -> None:
    assert only([proof()], [past("live")]).action == "wait"
    assert "smoke-east-1" in only([], [past("red")]).why


STATES = st.builds(
    past,
    st.sampled_from(["live", "green", "red"]),
    days=st.floats(0.1, 60),
    image=st.sampled_from("ab"),
    cluster=st.sampled_from(["east", "west"]),
)
PROOFS = st.builds(
    proof,
    days=st.floats(0.1, 60),
    smoke=st.integers(0, 2),
    cluster=st.sampled_from(["east", "west"]),
    oci=st.sampled_from("ab"),
)


@given(st.lists(STATES), st.lists(PROOFS), st.booleans(), st.sampled_from([None, 7.0]))
def test_a_pair_runs_exactly_when_it_is_up_idle_and_unproved(
    history: list[Past], proofs: list[Verification], down: bool, days: float | None
) -> None:
    found = only(proofs, history, down="away" if down else "", rule=Rule(1, days))
    live = any(one.state == "live" and (one.digest[0], one.cluster) == ("a", "east") for one in history)
    proved = any(
        one.smoke == 1
        and one.where == "east"
        and one.oci == f"sha256:{'a' * 64}"
        and (days is None or FIRST - datetime.fromisoformat(one.at) <= timedelta(days=days))
        for one in proofs
    )
    assert (found.action == "run") is (not down and not live and not proved)
