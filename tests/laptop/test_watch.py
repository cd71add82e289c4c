"""Following Dagster runs: nothing that a run still says is lost when its work is done."""

from __future__ import annotations

import time
from typing import Any

from aifactory.laptop.events import Event
from aifactory.laptop.graphql import Client
from aifactory.laptop.watch import Watch


class Told(Client):
    """A web server that answers from a list: each look at a run finds one more of its events."""

    def __init__(self, jobs: dict[str, str], events: list[str], *, ends: bool = True):
        super().__init__("http://127.0.0.1:1")
        self.jobs, self.told, self.ends = jobs, events, ends
        self.looks = dict.fromkeys(jobs, 0)

    def run(self, run_id: str) -> dict[str, Any]:
        done = self.ends and self.looks[run_id] + 1 >= len(self.told)
        return {"jobName": self.jobs[run_id], "tags": {}, "status": "SUCCESS" if done else "STARTED"}

    def events(self, run_id: str, cursor: str | None = None) -> tuple[list[Event], str | None]:
        number = int(cursor or 0)
        self.looks[run_id] = number + 1
        return [Event(kind="LogMessageEvent", message=text, at=0.0) for text in self.told[number : number + 1]], str(
            number + 1
        )


def test_the_last_words_of_runs_are_heard_before_they_are_left() -> None:
    watch = Watch(Told({"one": "evaluate", "two": "evaluate"}, ["started", "scored", "ended"]))
    for run in ("one", "two"):
        watch.add(run)
    heard = [(run.id, event.message) for run, event in watch.settle("evaluate", 10, pause=0.01)]
    for run in ("one", "two"):
        assert [text for name, text in heard if name == run] == ["started", "scored", "ended"]
    assert watch.living() == []


def test_runs_of_other_jobs_are_not_waited_for_and_none_for_ever() -> None:
    watch = Watch(Told({"one": "train"}, ["started"], ends=False))
    watch.add("one")
    assert list(watch.settle("evaluate", 10, pause=0.01)) == []
    began = time.monotonic()
    list(watch.settle("train", 0.2, pause=0.01))
    assert time.monotonic() - began < 5
    assert len(watch.living()) == 1
