"""Being told to stop."""

from __future__ import annotations


class Cancelled(BaseException):
    """Somebody asked this run to stop. Not an Exception, so that no `except Exception` swallows it."""
