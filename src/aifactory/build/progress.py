"""Rows on their way through a builder: counted, reported, and stopped when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aifactory.channel import Job, Progress


def counted(job: Job, items: Iterable[Any], text: str, unit: str = "rows", total: int | None = None) -> Iterator[Any]:
    """The same batches (or single items), with a Progress message now and then."""
    done = 0
    for item in items:
        job.check_stop()
        before, done = done, done + int(getattr(item, "num_rows", 1))
        if done // 1024 != before // 1024:
            job.writer.send(Progress(text=text, done=done, total=total, unit=unit))
        yield item
    job.writer.send(Progress(text=text, done=done, total=total, unit=unit))
