"""The trees of the classes on disk: who owns them, who may read and write them, and that no link leads out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace import access
from aifactory.namespace.identities import Identity, group_name, user_name
from aifactory.namespace.names import inside

PUBLIC_MODE, PRIVATE_MODE, FOLDER_MODE = 0o2755, 0o2750, 0o755
NAMED = 5
"""Wrong places of one kind that are named; the others are counted."""


@dataclass(frozen=True)
class Look:
    """What there is to say of one place: `fix` is empty where nothing is to be mended."""

    place: str
    text: str
    fix: str = ""


def mode_of(of: str) -> int:
    """Of a class root: public is read by everybody, private by its group; its identity alone writes. The set-group-id
    bit gives everything below to the root's group."""
    return PUBLIC_MODE if of == access.PUBLIC else PRIVATE_MODE


def lay_out(root: Path, owners: Iterable[Identity]) -> list[str]:
    """Make the roots of these classes with their owners and modes; a line for each that was made or changed.

    What stands below is left as it is. FactoryError "escape" for a symlink in place of a folder, "not_root" when this
    user may not give a folder away.
    """
    done: list[str] = []
    for folder in (root, root / "private"):
        _make(folder)
        if stat.S_IMODE(folder.stat().st_mode) != FOLDER_MODE:
            done.append(_set(folder, None, FOLDER_MODE))
    for owner in owners:
        place = root / owner.access
        _make(place)
        if _differs(place, owner):
            done.append(_set(place, owner, mode_of(owner.access)))
    return done


def look(root: Path, owners: Mapping[str, Identity], classes: Iterable[str]) -> Iterator[Look]:
    """Owner and mode of the root, of each class root, and of everything in it that this user may enter; links that
    leave their key. Without an identity for a class only its links are looked at."""
    for folder in (root, root / "private"):
        if folder.is_symlink() and folder != root:
            yield Look(folder.name, f"a symlink to {folder.readlink()}", "replace the symlink by what it names")
            return
        if owners and folder.is_dir() and folder.stat().st_mode & 0o022:
            text = f"mode {stat.S_IMODE(folder.stat().st_mode):04o}: others than its owner may write"
            yield Look(str(folder), text, f"chmod 755 {folder}")
    for of in sorted({*owners, *classes}):
        place = root / of
        if place.is_symlink():
            yield Look(of, f"a symlink to {place.readlink()}", "replace the symlink by what it names")
        elif place.is_dir():
            yield from _class(root, of, owners.get(of))
        elif owners:
            yield Look(of, f"{place} is not there", "aifactory doctor --init-root, as root")


def _class(root: Path, of: str, owner: Identity | None) -> Iterator[Look]:
    place = root / of
    if owner is not None and (said := _differs(place, owner)):
        yield Look(of, said, "aifactory doctor --init-root, as root")
    if not os.access(place, os.R_OK | os.X_OK):
        yield Look(of, f"closed to {user_name(os.geteuid())}: look at it as root or as its identity")
        return
    wrong = _Wrong(place)
    count = 0
    for path in _below(place):
        count += 1
        seen = path.lstat()
        if stat.S_ISLNK(seen.st_mode):
            if said := _leads_out(root, path):
                wrong.add("link", path, said, f"rm {path}, or replace it by what it names")
            continue
        if owner is None:
            continue
        if seen.st_uid != owner.uid:
            fix = f"chown -hR {owner.owner} {place}, once it is known how it came there"
            wrong.add("owner", path, f"owned by {user_name(seen.st_uid)}, not {user_name(owner.uid)}", fix)
        if seen.st_mode & 0o022:
            wrong.add(
                "writable", path, f"mode {stat.S_IMODE(seen.st_mode):04o}: others may write", f"chmod -R go-w {place}"
            )
        if of == access.PUBLIC and not seen.st_mode & stat.S_IROTH:
            fix = f"chmod -R o+rX {place}, and umask 022 for its services"
            wrong.add("closed", path, f"mode {stat.S_IMODE(seen.st_mode):04o}: others can't read public data", fix)
    found = list(wrong.looks(of))
    yield from found
    if not found:
        whose = f"{owner.owner} {mode_of(of):04o}, " if owner is not None else ""
        yield Look(of, f"{whose}{count:,} files and folders, no link leads out")


class _Wrong:
    """What is wrong below one class root, by kind: a few by name, the rest as a number."""

    def __init__(self, place: Path):
        self._place = place
        self._kinds: dict[str, list[tuple[Path, str, str]]] = {}

    def add(self, kind: str, path: Path, said: str, fix: str) -> None:
        self._kinds.setdefault(kind, []).append((path, said, fix))

    def looks(self, of: str) -> Iterator[Look]:
        for found in self._kinds.values():
            for path, said, fix in found[:NAMED]:
                yield Look(of, f"{path.relative_to(self._place)}: {said}", fix)
            if len(found) > NAMED:
                yield Look(of, f"{len(found) - NAMED:,} more like the last one", found[0][2])


def _below(place: Path) -> Iterator[Path]:
    for folder, folders, files in place.walk():
        yield from (folder / name for name in sorted([*folders, *files]))


def _leads_out(root: Path, link: Path) -> str:
    try:
        inside(root, link)
    except FactoryError as error:
        return f"{error.found}" if error.found else error.what
    return ""


def _differs(place: Path, owner: Identity) -> str:
    """What is other than it should be, in words."""
    seen, mode = place.stat(), mode_of(owner.access)
    said = []
    if (seen.st_uid, seen.st_gid) != (owner.uid, owner.gid):
        said.append(f"owned by {user_name(seen.st_uid)}:{group_name(seen.st_gid)}, not {owner.owner}")
    if stat.S_IMODE(seen.st_mode) != mode:
        said.append(f"mode {stat.S_IMODE(seen.st_mode):04o}, not {mode:04o}")
    return "; ".join(said)


def _set(place: Path, owner: Identity | None, mode: int) -> str:
    try:
        if owner is not None:
            os.chown(place, owner.uid, owner.gid)
        place.chmod(mode)  # after chown, which takes the set-group-id bit away
    except PermissionError as error:
        raise _not_root(f"{place} can't be given to {owner.owner if owner else 'its owner'}", error) from error
    return f"{place}: {f'{owner.owner} ' if owner else ''}{mode:04o}"


def _not_root(what: str, error: OSError) -> FactoryError:
    return FactoryError(
        what,
        found=f"{user_name(os.geteuid())}: {error.strerror}",
        expected="root",
        fix="run it as root: sudo aifactory doctor --init-root",
        code="not_root",
    )


def _make(place: Path) -> None:
    if place.is_symlink():
        raise FactoryError(
            f"{place} leaves its place",
            found=f"a symlink to {place.readlink()}",
            expected="a directory of its own",
            fix="replace the symlink by what it names",
            code="escape",
        )
    try:
        place.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise _not_root(f"{place} can't be made", error) from error
