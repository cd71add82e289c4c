"""Being told to stop, and putting an exception into a message."""

from __future__ import annotations

import traceback

from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError

TRACE_CHARACTERS = 20_000


class Cancelled(BaseException):
    """Somebody asked this run to stop. Not an Exception, so that no `except Exception` swallows it."""


def failure(error: BaseException, *, private: bool) -> Failure:
    """The exception for a message. For a private run: its type and where it was raised, and text only of a FactoryError.

    The text of any other exception may quote data, and so may the texts in its chain, so a private trace is frames
    alone.
    """
    name = type(error).__qualname__
    if private:
        text = str(error) if isinstance(error, FactoryError) else ""
        return Failure(type=name, text=text, trace="".join(traceback.format_tb(error.__traceback__))[-TRACE_CHARACTERS:])
    return Failure(
        type=name,
        text=str(error),
        trace="".join(traceback.format_exception(error))[-TRACE_CHARACTERS:],
    )
