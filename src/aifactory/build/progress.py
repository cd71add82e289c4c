"""Rows on their way through a builder: counted, reported, and stopped when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aifactory.channel import Job, Progress
from aifactory.channel.redact import GIVEN


def counted(job: Job, items: Iterable[Any], text: str, unit: str = "rows", total: int | None = None) -> Iterator[Any]:
    """The same batches (or single items), with a Progress message now and then."""
    done = 0
    for item in items:
        job.check_stop()
        before, done = done, done + int(getattr(item, "num_rows", 1))
        job.rows[GIVEN] = max(done, job.rows.get(GIVEN, 0))
        if done // 1024 != before // 1024:
            job.writer.send(Progress(text=text, done=done, total=total, unit=unit))
        yield item
    job.writer.send(Progress(text=text, done=done, total=total, unit=unit))


def watched(items: Iterator[Any], rows: dict[str, int], name: str) -> Iterator[Any]:
    """The same rows (or batches), with the number of the one at hand (the last of the batch) in `rows[name]`."""
    done = 0
    while True:
        rows[name] = done + 1
        try:
            item = next(items)
        except StopIteration:
            rows[name] = done
            return
        done += int(getattr(item, "num_rows", 1))
        rows[name] = done
        yield item
