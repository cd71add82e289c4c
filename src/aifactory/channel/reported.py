"""A failure that was put into words where it happened."""

from __future__ import annotations

from aifactory.channel.payloads import Failure


class Reported(Exception):
    """What ended the work in another process, as that process said it: of private data without what it may not say."""

    def __init__(self, failure: Failure):
        self.failure = failure
        super().__init__(failure)

    def __str__(self) -> str:
        return f"{self.failure.type}: {self.failure.text}"
