"""Publications: the journal that says which version a key stands for, and who said so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from aifactory.errors import FactoryError
from aifactory.namespace import access, current, decide, trash
from aifactory.namespace.audits import Audits
from aifactory.namespace.keys import Key
from aifactory.namespace.publication import Draft, Promoted, Publication, Published
from aifactory.namespace.snapshot import Snapshot, folder
from aifactory.store import Journal, JournalConflict

if TYPE_CHECKING:
    from aifactory.namespace.namespace import Namespace


class Publications:
    """The publications of one key, oldest first; the last one is current."""

    def __init__(self, ns: Namespace, key: str):
        self.ns = ns
        self.key = Key(key)
        self.directory = ns.directory(self.key)
        self._journal = Journal(self.directory / "@journal")

    def all(self) -> list[Publication]:
        """Every publication, verified; FactoryError "journal" when one is torn, altered, missing, or the tail is lost.

        A tail is seen to be lost when `@current` names a version that no record has.
        """
        shown = current.read(self.directory)  # before the journal: a publisher appends first and moves the link second
        found = [Publication.of(record) for record in self._journal.records()]
        if shown and all(folder(publication.version) != shown for publication in found):
            raise current.lost(self.directory, shown, len(found))
        return found

    def last(self) -> Publication | None:
        """The newest publication; None when the key was never published."""
        found = self.all()
        return found[-1] if found else None

    def current(self) -> Publication | None:
        """The publication that makes a version current: the last one."""
        return self.last()

    def number(self) -> int:
        """How many records there are: what a build freezes when it starts."""
        return len(self.all())

    def for_build(self, build_key: str) -> Publication | None:
        """The newest publication with this build key whose snapshot is still there, to be published again."""
        for publication in reversed(self.all()):
            home = self.directory / folder(publication.version)
            if publication.build_key == build_key and trash.whole(self.key, home, home.name):
                return publication
        return None

    def snapshot(self, version: str) -> Snapshot:
        """The snapshot of a whole version (64 digits), published or not."""
        return Snapshot.load(self.key, self.directory / folder(version), version)

    def publish(
        self,
        version: str,
        frozen: int,
        *,
        run: str,
        writer: str,
        build_key: str,
        inputs: Mapping[str, str],
        code_version: str,
        commit: str = "",
        image: str = "",
        checks: Sequence[str] = (),
        why: str = "",
        rows: int | None = None,
        bytes: int | None = None,
        frozen_at: datetime | None = None,
        checkpoint: Promoted | None = None,
        grants: Iterable[access.Grant] = (),
    ) -> Published:
        """Makes a sealed version current, unless what was appended since `frozen` forbids it.

        `version` has 64 digits; `inputs` are versions by key; `checks` are the blocking ones, each of which must have a
        green audit; rows and bytes are the manifest's unless given; of two builds that froze the same number, the one
        with the later `frozen_at` wins, the first one where that isn't given. Outcomes (see `Published`): published,
        unchanged, superseded. Raises FactoryError "rolled_back" (lost to a rollback), "red" (a check is red or wasn't
        asked), "class" (the inputs are of a class that this key may not hold), "missing", "integrity".
        """
        snapshot = self.snapshot(version)
        snapshot.touch()
        snapshot.look()
        access.check(self.key.access, {key: Key(key).access for key in inputs}, grants, output=self.key)
        self._all_green(version, checks)
        draft = Draft(
            version=version,
            frozen=frozen,
            frozen_at=frozen_at,
            inputs=dict(inputs),
            code_version=code_version,
            build_key=build_key,
            commit=commit,
            image=image,
            run=run,
            why=why,
            checks=tuple(checks),
            rows=snapshot.manifest.rows if rows is None else rows,
            bytes=snapshot.manifest.bytes if bytes is None else bytes,
            checkpoint=checkpoint,
        )
        while True:
            records = self.all()
            settled = decide.publish(self.key, draft, records)
            if settled:
                self.show()
                return settled
            own = self._append(draft, records, writer)
            if own:
                break
        self._hold(own, records)
        self.show()
        same = bool(records) and records[-1].version == version
        return Published("unchanged" if same else "published", own)

    def rollback(self, version: str, *, writer: str, why: str) -> Publication:
        """Makes an earlier published version current again: `version` is it, or a unique prefix of 8 digits or more.

        Builds that froze before lose to this. Raises FactoryError "version" (unknown), "current" (it's that already),
        "why" (no reason given), "missing", "integrity".
        """
        while True:
            records = self.all()
            draft = decide.rollback(self.key, version, writer, why, records)
            self.snapshot(draft.version).look()
            own = self._append(draft, records, writer)
            if own:
                self.show()
                return own

    def show(self) -> None:
        """Moves `@current` to the journal's last version; for who was killed between the two, too."""
        while True:
            last = self.last()
            if last is None:
                return
            current.move(self.directory, folder(last.version))
            # A slower publisher may have put an older version over a newer one; the last reading decides.
            again = self._journal.last()
            if again is None or again.n == last.n:
                return

    def _append(self, draft: Draft, records: Sequence[Publication], writer: str) -> Publication | None:
        body = draft.body(records[-1].version if records else None)
        try:
            return Publication.of(self._journal.append(body, writer=writer, expect=len(records)))
        except JournalConflict:
            return None

    def _all_green(self, version: str, checks: Sequence[str]) -> None:
        audits = Audits(self.ns, self.key, version).latest() if checks else {}
        for check in checks:
            audit = audits.get(check)
            if audit is None or not audit.passed:
                raise FactoryError(
                    f"{self.key}{folder(version)} can't be published: its blocking check {check!r} is not green",
                    found=f"red: {audit.reason or audit.counts}" if audit else "no audit",
                    expected="a green audit",
                    fix="mend the stage or its input and materialize it again",
                    code="red",
                )

    def _hold(self, own: Publication, before: Sequence[Publication]) -> None:
        """Makes sure that no sweeper took the directory while it was being published."""
        home = self.directory / folder(own.version)
        if trash.returns(self.key, home):
            return
        if before:
            why = f"the files of {folder(own.version)} were swept while it was being published"
            draft = Draft.again(before[-1], why)
            self._append(draft, [*before, own], own.writer)
            self.show()
        raise FactoryError(
            f"{home} vanished while it was being published",
            found="no whole snapshot",
            expected="the files that were sealed",
            fix="materialize the key again",
            code="missing",
        )
