"""Reads an attempt's messages, resumably, and says when some are missing."""

from __future__ import annotations

from pathlib import Path

from aifactory.channel.message import Message
from aifactory.channel.payloads import Closed, Failure
from aifactory.channel.safe import is_private
from aifactory.errors import FactoryError
from aifactory.store import Journal


class Reader:
    """Messages of one attempt after number `after`; `seq` is the number of the last one that was read.

    Of a `private` run (by its place, unless it is said) they are cut to what may be shown, whoever wrote them.
    """

    def __init__(self, attempt_directory: Path, *, after: int = 0, private: bool | None = None):
        self.directory = attempt_directory / "messages"
        self.seq = after
        self.private = is_private(attempt_directory.parents[1]) if private is None else private
        self.closed: Closed | None = None
        self._journal = Journal(self.directory)

    def new(self) -> list[Message]:
        """What has arrived since the last call.

        Raises FactoryError: code "gap" for a missing number, a wrong count or a message after the end; code "journal"
        for a record that is torn or altered.
        """
        try:
            records = self._journal.records(after=self.seq)
        except FactoryError as error:
            missing = self._missing()
            if error.code != "journal" or missing is None:
                raise
            raise self._gap(f"message {missing} is missing", found=str(error)) from error
        messages = []
        for record in records:
            message = Message.model_validate(record.body)
            if self.private:
                message = message.safe()
            if record.n != self.seq + 1 or message.seq != record.n:
                raise self._gap(f"message {self.seq + 1} is missing", found=f"{record.n} (seq {message.seq})")
            if self.closed is not None:
                raise self._gap(f"message {record.n} came after the end", found=record.n)
            self.seq = record.n
            if message.method == "closed":
                payload = message.payload
                if isinstance(payload, Closed):
                    if payload.count != record.n:
                        raise self._gap("the count of the last message does not match", found=record.n)
                    self.closed = payload
            messages.append(message)
        return messages

    def damage(self, error: FactoryError) -> Failure:
        """What `new` raised, as the reason why the attempt is lost: of a private run without what was found."""
        return Failure(type="FactoryError", text=error.what if self.private else str(error), code="damaged")

    def _missing(self) -> int | None:
        """The first number without a file below the last one that has a file, or that was read."""
        numbers = {int(path.stem) for path in self.directory.glob("[0-9]*.json")}
        last = max([self.seq, *numbers])
        return next((n for n in range(1, last + 1) if n not in numbers), None)

    def _gap(self, what: str, *, found: object) -> FactoryError:
        return FactoryError(
            f"{self.directory}: {what}",
            found=found,
            expected=self.seq + 1,
            fix="launch the run again: a damaged attempt is followed by a new one",
            code="gap",
        )
