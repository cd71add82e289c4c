"""Being told to stop, and putting an exception into a message."""

from __future__ import annotations

import traceback

from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError

TRACE_CHARACTERS = 20_000


class Cancelled(BaseException):
    """Somebody asked this run to stop. Not an Exception, so that no `except Exception` swallows it."""


def failure(error: BaseException, *, private: bool) -> Failure:
    """The exception for a message. For a private run: its type, where it was raised, and a FactoryError's text.

    The text of any other exception may quote data, and so may the texts in its chain, so a private trace is frames
    alone.
    """
    if private:
        text = str(error) if isinstance(error, FactoryError) else ""
        trace = traceback.format_tb(error.__traceback__)
    else:
        text = str(error)
        trace = traceback.format_exception(error)
    return Failure(type=type(error).__qualname__, text=text, trace="".join(trace)[-TRACE_CHARACTERS:])
