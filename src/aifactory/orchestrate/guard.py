"""What a step or a tick over private data tells Dagster when something raises in it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg

from aifactory.channel import redacted
from aifactory.channel.safe import is_private

LOG = "launcher.log"


@contextmanager
def guarded(directory: Path) -> Iterator[None]:
    """Around the work of a step whose run has `directory`.

    Where that is private, a Failure leaves without what it was raised from (Dagster keeps the whole chain), and
    anything else as a Failure that tells its type and place; it stands whole in the run's `launcher.log`.
    """
    if not is_private(directory):
        yield
        return
    try:
        yield
    except (dg.Failure, dg.RetryRequested) as error:
        _keep(error, directory)
        error.__cause__ = error.__context__ = None
        raise
    except Exception as error:
        _keep(error, directory)
        raise dg.Failure(description=in_words(error, private=True), allow_retries=False) from None


def in_words(error: BaseException, *, private: bool) -> str:
    """The error as a line of Dagster's log."""
    if not private:
        return str(error)
    shown = redacted(error, private=True)
    return f"{shown.type}: {shown.text}"


def _keep(error: BaseException, directory: Path) -> None:
    with suppress(OSError):
        if directory.is_dir():  # one that was refused before it had a run has read nothing
            with (directory / LOG).open("a", encoding="utf-8") as file:
                file.write("".join(traceback.format_exception(error)))
