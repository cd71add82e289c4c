"""Who wins when several write one key: pure functions over its publications."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from datetime import datetime

from aifactory.errors import FactoryError
from aifactory.namespace.keys import Key
from aifactory.namespace.publication import Draft, Publication, Published
from aifactory.namespace.snapshot import folder
from aifactory.store import Record


def publish(key: Key, draft: Draft, records: Sequence[Publication]) -> Published | None:
    """None when `draft` may be appended; else what became of it. FactoryError "rolled_back" and "journal".

    A rollback since the build froze wins. Another build's publication since then wins unless that build froze
    earlier than this one: from a lower number, or from the same number at an earlier time. The same build
    with the same checks, already current, is not repeated.
    """
    number = records[-1].n if records else 0
    if draft.frozen > number:
        raise FactoryError(
            f"the journal of {key} lost its tail",
            found=f"{number} records",
            expected=f"at least {draft.frozen}, which this build read when it started",
            fix="restore @journal from a backup or another copy",
            code="journal",
        )
    since = [record for record in records if record.n > draft.frozen]
    for other in since:
        if other.action == "rollback":
            raise FactoryError(
                f"{key} was rolled back to {folder(other.version)} by {other.writer} while this build ran: {other.why}",
                found=f"record {other.n} at {other.at}",
                expected=f"no rollback after record {draft.frozen}, where this build started",
                fix="materialize it again if the rollback's reason doesn't hold for it; automation won't",
                code="rolled_back",
            )
    last = records[-1] if records else None
    same = last and (last.version, last.build_key, last.checks) == (draft.version, draft.build_key, draft.checks)
    if last and same:
        return Published("unchanged", last)
    winners = [other for other in since if not _later(draft, other)]
    return Published("superseded", winners[-1], winners[-1]) if winners else None


def dropped(key: Key, draft: Draft, drops: Sequence[Record], number: int) -> None:
    """FactoryError "rolled_back" when the fork that `draft` was built on was dropped since; `number` is the key's."""
    since = [one for one in drops if draft.frozen_at is not None and datetime.fromisoformat(one.at) > draft.frozen_at]
    if not since and draft.frozen > number:
        since = list(drops[-1:])
    if since:
        raise FactoryError(
            f"the fork of {key} was dropped by {since[-1].writer} while this build ran: {since[-1].body['why']}",
            found=f"dropped at {since[-1].at}",
            expected="the fork that this build started from",
            fix="materialize it again if a new fork is what you want; automation won't",
            code="rolled_back",
        )


def _later(draft: Draft, other: Draft) -> bool:
    if draft.frozen != other.frozen or draft.frozen_at is None or other.frozen_at is None:
        return draft.frozen > other.frozen
    return draft.frozen_at > other.frozen_at


def rollback(key: Key, version: str, writer: str, why: str, records: Sequence[Publication]) -> Draft:
    """The rollback to append; FactoryError "version", "current" and "why"."""
    if not why.strip() or not writer.strip():
        raise reason(f"a rollback of {key}", writer, why)
    earlier = [record for record in records if record.version == find(key, version, records)][-1]
    last = records[-1]
    if last.version == earlier.version:
        raise FactoryError(
            f"{key}{folder(last.version)} is current already",
            found=f"record {last.n}, {last.action} by {last.writer} at {last.at}",
            expected="another version",
            fix=f"`aifactory versions {key}` lists them",
            code="current",
        )
    return Draft.again(earlier, why, frozen=last.n)


def reason(what: str, writer: str, why: str) -> FactoryError:
    """The error for an act that doesn't say who does it and why."""
    return FactoryError(
        f"{what} says not who or why",
        found=f"writer {writer!r}, why {why!r}",
        expected="both: whoever loses to it reads them",
        fix="give a reason, for example --why 'labels are wrong'",
        code="why",
    )


def find(key: Key, prefix: str, records: Sequence[Publication]) -> str:
    """The one published version (64 digits) that starts with `prefix` (8 digits or more); FactoryError "version"."""
    known = list(dict.fromkeys(record.version for record in records))
    found = [version for version in known if version.startswith(prefix)]
    if len(prefix) >= 8 and len(found) == 1:
        return found[0]
    if len(prefix) < 8:
        problem = f"{len(prefix)} digits"
    else:
        problem = f"{len(found)} versions begin so" if found else f"{prefix!r}, which was never published"
    close = found or difflib.get_close_matches(prefix, [version[: len(prefix)] for version in known], 3, 0.7)
    listed = ", ".join(folder(version) for version in close or known[-3:])
    raise FactoryError(
        f"{key}@{prefix} names no version of {key}",
        found=problem,
        expected=f"8 digits or more of one published version, such as {listed}" if known else "a published version",
        fix=f"`aifactory versions {key}` lists them" if known else f"materialize {key} first",
        code="version",
    )
