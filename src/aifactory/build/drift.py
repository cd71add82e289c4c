"""Warns in the run where a version that was set by hand no longer tells the code."""

from __future__ import annotations

from aifactory.build.inputs import Work
from aifactory.channel import Note
from aifactory.datasets.drift import moved, remember


def note_source(work: Work) -> None:
    """Remember the code of a new version, or say that it moved under an old one."""
    remember(work.job.namespace, work.stage)
    warning = moved(work.job.namespace, work.stage)
    if warning is not None:
        work.job.writer.send(Note(level="warning", text=warning))
