"""Identities: which user of the machine writes each access class. `[tool.aifactory.identities]` says it."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass

from aifactory.errors import FactoryError
from aifactory.namespace import access
from aifactory.namespace.settings import setting
from aifactory.project import Project

TABLE = "[tool.aifactory.identities]"


@dataclass(frozen=True)
class Identity:
    """The only user who writes `access`, and the group whose members may read it (of a private class)."""

    access: str
    uid: int
    gid: int

    @property
    def owner(self) -> str:
        """`user:group` as chown takes it; numbers where the machine knows no name."""
        return f"{user_name(self.uid)}:{group_name(self.gid)}"


def identities(project: Project) -> dict[str, Identity]:
    """By class, as the project's `pyproject.toml` says; empty where it says nothing.

    A line is `public = "pipeline-public"`, or `"private/clinic" = { user = "pipeline-clinic", group = "clinic" }`, with
    names or numbers; without a group it is the user's own. FactoryError (code "identities") for a class that is none, a
    user or group that this machine does not know, and one user for two classes.
    """
    table = setting(project, "identities")
    return {} if table is None else _parse(table)


def writer_of(of: str) -> str:
    """Who writes records and publications of this class from this process: `pipeline/<class>@<user>`."""
    return f"pipeline/{access.validate(of)}@{user_name(os.geteuid())}"


def user_name(uid: int) -> str:
    """The user's name, or the number where the machine knows none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def group_name(gid: int) -> str:
    """The group's name, or the number where the machine knows none."""
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _parse(table: object) -> dict[str, Identity]:
    if not isinstance(table, Mapping):
        raise _wrong(f"{TABLE} is no table", table, "a line per class")
    found: dict[str, Identity] = {}
    for of, said in sorted(table.items()):
        try:
            access.validate(of)
        except FactoryError as error:
            raise _wrong(f"{TABLE} names no class", of, "public or private/<project>") from error
        one = _identity(of, said if isinstance(said, Mapping) else {"user": said})
        for other in found.values():
            if other.uid == one.uid:
                both = f"{other.access} and {of}"
                raise _wrong(f"{TABLE}: {both} are written by one user", said, "a user for each class")
        found[of] = one
    return found


def _identity(of: str, said: Mapping[str, object]) -> Identity:
    user, group = said.get("user"), said.get("group")
    if set(said) - {"user", "group"} or user is None:
        raise _wrong(f"{TABLE}: {of}", dict(said), '{ user = "...", group = "..." }')
    try:
        uid = _number(user) if _is_number(user) else pwd.getpwnam(str(user)).pw_uid
    except KeyError:
        raise _wrong(f"{TABLE}: {of}: there is no user {user!r} here", user, "a user of this machine") from None
    if group is None:
        try:
            return Identity(of, uid, pwd.getpwuid(uid).pw_gid)
        except KeyError:
            raise _wrong(f"{TABLE}: {of}: user {uid} has no group here", "no group", "group = ...") from None
    try:
        return Identity(of, uid, _number(group) if _is_number(group) else grp.getgrnam(str(group)).gr_gid)
    except KeyError:
        raise _wrong(f"{TABLE}: {of}: there is no group {group!r} here", group, "a group of this machine") from None


def _is_number(said: object) -> bool:
    return isinstance(said, int) and not isinstance(said, bool)


def _number(said: object) -> int:
    number = int(str(said))
    if number < 0:
        raise KeyError(said)
    return number


def _wrong(what: str, found: object, expected: object) -> FactoryError:
    return FactoryError(
        what, found=found, expected=expected, fix=f"correct {TABLE} in pyproject.toml", code="identities"
    )
