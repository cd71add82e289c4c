"""Keys: the names of datasets and lines, and at the same time their directories."""

from __future__ import annotations

import keyword
import re
from typing import Self

from aifactory.errors import FactoryError

CLASSES = ("public", "private")
RESERVED = frozenset({"runs", "specs", "claims", "images"})
LINES = "models"
LINE_CHILDREN = frozenset({"checkpoints", "evaluations"})
SEGMENT_LENGTH = 63
KEY_LENGTH = 200
_SEGMENT = re.compile(r"[a-z][a-z0-9_]*")


class Key(str):
    """A valid key, such as `public/medquad/clean` or `private/oncology/notes/raw`; elsewhere it's a plain string.

    `public/...` belongs to everybody, `private/<project>/...` to one project. `<class root>/models/<line>` is a line.
    Anything else raises FactoryError "key".
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if isinstance(text, cls):
            return text
        _check(text)
        return super().__new__(cls, text)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The key that `text` spells."""
        return cls(text)

    @property
    def segments(self) -> tuple[str, ...]:
        """("public", "medquad", "clean")."""
        return tuple(self.split("/"))

    @property
    def access(self) -> str:
        """The class with its project: "public" or "private/<project>"."""
        return "/".join(self.segments[: _root_length(self.segments[0])])

    @property
    def name(self) -> str:
        """The last segment."""
        return self.segments[-1]

    @property
    def is_line(self) -> bool:
        """Whether this is a line of checkpoints."""
        return self.segments[_root_length(self.segments[0])] == LINES

    def __repr__(self) -> str:
        return f"Key({str(self)!r})"


def check_segment(segment: str, what: str) -> None:
    """Raises FactoryError "key" unless `segment` is a valid one; `what` names the whole text for the message."""
    if not _SEGMENT.fullmatch(segment):
        raise _bad(
            what,
            f"segment {segment!r}",
            "a lower-case letter, then lower-case letters, digits and single `_`",
            f"rename it, for example {_suggest(segment)!r}",
        )
    if "__" in segment:
        raise _bad(what, f"segment {segment!r}", "no `__`: Dagster joins segments with it", "use a single `_`")
    if keyword.iskeyword(segment):
        raise _bad(
            what,
            f"segment {segment!r}",
            "no word of Python: segments are file and function names",
            f"rename it, for example {segment + '_data'!r}",
        )
    if len(segment) > SEGMENT_LENGTH:
        raise _bad(what, f"a segment of {len(segment)} characters", f"at most {SEGMENT_LENGTH}", "shorten it")


def _check(text: object) -> None:
    if not isinstance(text, str):
        raise _bad(repr(text), type(text).__name__, "text", "write the key as a string")
    what = repr(text if len(text) <= KEY_LENGTH else text[:40] + "...")
    if not text:
        raise _bad(what, "an empty text", "public/<name> or private/<project>/<name>", "name the dataset")
    if len(text) > KEY_LENGTH:
        raise _bad(what, f"{len(text)} characters", f"at most {KEY_LENGTH}", "shorten its segments")
    if text.startswith("/"):
        raise _bad(what, "an absolute path", "a key", "drop the leading `/` (and `/factory/`)")
    segments = text.split("/")
    for segment in segments:
        check_segment(segment, what)
    if segments[0] not in CLASSES:
        named = [one for one in segments if one not in CLASSES]
        fix = f"begin with the class, for example public/{'/'.join(named)}"
        if len(named) > 1:
            fix += f", or private/{'/'.join(named)} if {named[0]} is a project"
        raise _bad(what, f"first segment {segments[0]!r}", "public or private", fix)
    for segment in segments[1:]:
        if segment in CLASSES:
            raise _bad(
                what,
                f"segment {segment!r} behind {segments[0]!r}",
                "a class as the first segment only; behind private comes the project",
                f"name the project second, as in private/<project>/..., or rename {segment!r}",
            )
    root = _root_length(segments[0])
    if len(segments) <= root:
        form = "public/<name>" if root == 1 else "private/<project>/<name>"
        raise _bad(what, f"{len(segments)} segments", form, "add the dataset's name")
    _check_reserved(what, segments[root:], "/".join(segments[:root]))


def _check_reserved(what: str, inner: list[str], root: str) -> None:
    if inner[0] in RESERVED:
        taken = ", ".join(sorted(RESERVED))
        raise _bad(what, f"{inner[0]!r} directly under {root}", f"not one of {taken}", "choose another name")
    if inner[0] != LINES:
        return
    if len(inner) == 1:
        raise _bad(what, f"{root}/{LINES} alone", f"{root}/{LINES}/<line>", "add the line's name")
    if len(inner) > 2:
        line = "/".join([root, *inner[:2]])
        problem = "names that a line's own assets take" if inner[2] in LINE_CHILDREN else "something inside a line"
        raise _bad(
            what,
            f"{'/'.join(inner[2:])!r}: {problem}",
            f"{line}, with nothing under it",
            f"name the line {line}, or put the dataset outside {root}/{LINES}",
        )


def _root_length(first: str) -> int:
    return 1 if first == "public" else 2


def _suggest(segment: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", segment.lower()).strip("_")
    return plain[:SEGMENT_LENGTH] if re.match(r"[a-z]", plain) else f"d_{plain}"[:SEGMENT_LENGTH].rstrip("_")


def _bad(what: str, found: object, expected: object, fix: str) -> FactoryError:
    return FactoryError(f"{what} is not a key", found=found, expected=expected, fix=fix, code="key")
