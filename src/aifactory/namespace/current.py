"""`@current`: a symlink beside the snapshots, for people and foreign tools; the journal decides."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from uuid import uuid4

from aifactory.errors import FactoryError
from aifactory.store import fsync_directory, writing

NAME = "@current"
TEMPORARY = "@current-"
_TARGET = re.compile(r"@[0-9a-f]{16}")


def read(directory: Path) -> str | None:
    """The `@<16 digits>` that it names; None when there is none. FactoryError "escape" when it names anything else."""
    link = directory / NAME
    try:
        target = str(link.readlink())
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        target = "not a symlink"
    if not _TARGET.fullmatch(target):
        raise FactoryError(
            f"{link} leaves its key",
            found=target,
            expected="a relative symlink to a version beside it, @<16 digits>",
            fix=f"remove {link}; the next publication or rollback makes it anew",
            code="escape",
        )
    return target


def move(directory: Path, target: str) -> None:
    """Makes it name `target`, in one step for every reader; nothing is written when it does already."""
    if read(directory) == target:
        return
    temporary = directory / f"{TEMPORARY}{uuid4().hex[:8]}"
    with writing(directory / NAME):
        temporary.symlink_to(target)
        temporary.replace(directory / NAME)
        fsync_directory(directory)


def remove(directory: Path) -> None:
    """Takes it away, where the key is read from another root; no error when there is none."""
    if read(directory) is not None:
        with writing(directory / NAME):
            (directory / NAME).unlink(missing_ok=True)


def lost(directory: Path, shown: str, records: int) -> FactoryError:
    """The error for a journal that lacks the version that `@current` names."""
    return FactoryError(
        f"the journal {directory / '@journal'} lost its tail",
        found=f"{records} records, none of {shown}",
        expected=f"a record of {shown}, which {directory / NAME} names",
        fix="restore the last records from a backup or another copy; if nobody has them, remove @current, and the last "
        "record that is left decides",
        code="journal",
    )
