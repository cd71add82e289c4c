"""Publications: the journal that says which version a key stands for, and who said so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aifactory.errors import FactoryError
from aifactory.namespace import access, current, decide, trash
from aifactory.namespace.audits import Audits
from aifactory.namespace.history import DROP, Book, History, book, deciding, histories, no_fork
from aifactory.namespace.keys import Key
from aifactory.namespace.publication import Draft, Left, Promoted, Publication, Published
from aifactory.namespace.snapshot import Snapshot, folder
from aifactory.store import Journal, JournalConflict, Record

if TYPE_CHECKING:
    from aifactory.namespace.namespace import Namespace


class Publications:
    """The publications of one key, oldest first; the last one is current."""

    def __init__(self, ns: Namespace, key: str):
        self.ns = ns
        self.key = Key(key)
        self.directory = ns.directory(self.key)
        self._journal = Journal(self.directory / "@journal")

    def history(self) -> History | None:
        """What decides which version the key stands for; None when it was never published in any root."""
        return deciding(self.ns.roots, self.key)[1]

    def histories(self) -> list[History]:
        """The history of every root that has one; the first decides, the others are hidden by it."""
        return histories([book(root, self.key) for root in self.ns.roots])

    def all(self) -> list[Publication]:
        """Every publication, verified; FactoryError "journal" when one is torn, altered, missing, or the tail is lost.

        Those of the first root whose journal has the key; of a fork, after those that it left. A tail is seen to be
        lost when `@current` names a version that no record has.
        """
        history = self.history()
        return list(history.records) if history else []

    def everywhere(self) -> list[Publication]:
        """Those of `all`, before them those that other roots have and it hides."""
        found = {record.sha256: record for history in self.histories() for record in reversed(history.records)}
        return list(found.values())[::-1]

    def of(self, version: str) -> list[Publication]:
        """The publications of a version (64 digits) in any root, oldest first in each."""
        found = [publication for publication in self.all() if publication.version == version]
        if found or not self.ns.lower:
            return found
        return [publication for publication in self.everywhere() if publication.version == version]

    def last(self) -> Publication | None:
        """The newest publication; None when the key was never published."""
        history = self.history()
        return history.last if history else None

    def current(self) -> Publication | None:
        """The publication that makes a version current: the last one."""
        return self.last()

    def number(self) -> int:
        """The number of the last publication, 0 without one: what a build freezes when it starts."""
        last = self.last()
        return last.n if last else 0

    def for_build(self, build_key: str) -> Publication | None:
        """The newest publication with this build key, in any root, whose snapshot is still there, to be published
        again; one that the key's own history has, if there is one."""
        for publication in reversed(self.everywhere()):
            if publication.build_key == build_key and self.place(publication.version) is not None:
                return publication
        return None

    def place(self, version: str) -> Path | None:
        """Where a version is whole, by the sizes of its files: its directory in the first such root."""
        homes = (directory / folder(version) for directory in self.ns.directories(self.key))
        return next((home for home in homes if trash.whole(self.key, home, home.name)), None)

    def snapshot(self, version: str) -> Snapshot:
        """The snapshot of a whole version (64 digits), published or not, from the first root that holds it whole."""
        homes = [directory / folder(version) for directory in self.ns.directories(self.key)]
        there = [home for home in homes if home.is_dir()] if self.ns.lower else []
        # One copy is loaded as it is: to look at each of its files takes a while on a mount.
        home = there[0] if len(there) == 1 else self.place(version) if there else None
        return Snapshot.load(self.key, home or homes[0], version)

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
        if snapshot.path.parent == self.directory:
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
            own, history = deciding(self.ns.roots, self.key)
            records = history.records if history else ()
            decide.dropped(self.key, draft, own.drops, records[-1].n if records else 0)
            settled = decide.publish(self.key, draft, records)
            if settled:
                self.show()
                return settled
            made = self._append(draft, own, history, writer)
            if made:
                break
        self._hold(made, records)
        self.show()
        same = bool(records) and records[-1].version == version
        return Published("unchanged" if same else "published", made)

    def rollback(self, version: str, *, writer: str, why: str) -> Publication:
        """Makes an earlier published version current again: `version` is it, or a unique prefix of 8 digits or more.

        Builds that froze before lose to this. Raises FactoryError "version" (unknown), "current" (it's that already),
        "why" (no reason given), "missing", "integrity".
        """
        while True:
            own, history = deciding(self.ns.roots, self.key)
            records = history.records if history else ()
            draft = decide.rollback(self.key, version, writer, why, records)
            self.snapshot(draft.version).look()
            made = self._append(draft, own, history, writer)
            if made:
                self.show()
                return made

    def drop(self, *, writer: str, why: str) -> Publication:
        """Ends the key's fork in the first root: it stands again for what the roots below say, which is returned.

        One record does it, so whoever publishes meanwhile sees the fork or sees it dropped; the journal keeps what the
        fork was, and its snapshots are left to the sweeper. Builds that started on the fork lose to this. Raises
        FactoryError "why", and "no_fork" where the first root has nothing of the key or no other root has it.
        """
        if not why.strip() or not writer.strip():
            raise decide.reason(f"dropping the fork of {self.key}", writer, why)
        while True:
            own = book(self.ns.root, self.key)
            _, below = deciding(self.ns.lower, self.key) if self.ns.lower else (None, None)
            if not own.live:
                raise no_fork(self.key, self.ns.roots, "no publication of its own", "publications that hide another's")
            if below is None:
                raise no_fork(self.key, self.ns.roots, "publications that no other root has", "a root to read it from")
            for version in {str(record.body["version"]) for record in own.live}:
                with suppress(FactoryError):
                    # The sweeper waits from now on: a drop can still be regretted.
                    Snapshot.load(self.key, self.directory / folder(version), version).touch()
            body = {"action": DROP, "why": why, "left": own.live[0].body.get("left")}
            try:
                self._journal.append(body, writer=writer, expect=len(own.records))
            except JournalConflict:
                continue
            self.show()
            return below.last

    def drops(self) -> tuple[Record, ...]:
        """The records by which forks of the key were dropped in the first root, oldest first."""
        return book(self.ns.root, self.key).drops

    def dropped(self, build_key: str) -> Record | None:
        """The record that dropped the newest publication with this build key, if it was in a fork that was dropped."""
        by: Record | None = None
        for record in reversed(book(self.ns.root, self.key).records):
            if record.body.get("action") == DROP:
                by = record
            elif record.body.get("build_key") == build_key:
                return by
        return None

    def show(self) -> None:
        """Moves `@current` to the first root's last version; for who was killed between the two, too.

        It is taken away where that root says nothing of the key, or of a version that only another root holds.
        """
        while True:
            own = book(self.ns.root, self.key)
            if not own.records:
                return
            shown = folder(str(own.live[-1].body["version"])) if own.live else None
            if shown and (not self.ns.lower or (self.directory / shown).is_dir()):
                current.move(self.directory, shown)
            else:
                current.remove(self.directory)
            # A slower publisher may have put an older version over a newer one; the last reading decides.
            again = self._journal.last()
            if again is None or again.n == len(own.records):
                return

    def _append(self, draft: Draft, own: Book, history: History | None, writer: str) -> Publication | None:
        last = history.last if history else None
        left = None
        if history is not None and last is not None and not own.live:
            left = Left(root=str(history.root), n=last.n, version=last.version, sha256=last.sha256)
        body = draft.body(last.version if last else None, left)
        try:
            record = self._journal.append(body, writer=writer, expect=len(own.records))
        except JournalConflict:
            return None
        return Publication.of(record, last.n + 1 if last else 1)

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
        if trash.returns(self.key, home) or self.place(own.version):
            return
        if before:
            why = f"the files of {folder(own.version)} were swept while it was being published"
            state, history = deciding(self.ns.roots, self.key)
            if history is not None and history.last.sha256 == own.sha256:
                self._append(Draft.again(before[-1], why), state, history, own.writer)
            self.show()
        raise FactoryError(
            f"{home} vanished while it was being published",
            found="no whole snapshot",
            expected="the files that were sealed",
            fix="materialize the key again",
            code="missing",
        )
