"""Values that stand for private data, and a search that finds them however they are stored."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

CANARIES = (
    "Zaphodine Quillfeather",
    "Zaphodine Bjørkløv-Ångström",
    'Zaphodine "O\'Quillfeather"\nof room 7',
    "zaphodine_quillfeather",
)
"""Plain, with letters beyond ASCII, with quotes and a line break, and one that could be a name in code."""

PIECES = ("zaphodine", "Zaphodine", "quillfeather", "Quillfeather", "Bjørkløv", "Ångström")
"""A piece of any length of any of them is one too many; these are short enough to survive a cut."""


def needles() -> dict[str, bytes]:
    """The pieces in every spelling that a database, a log, a page or a message may give them."""
    found: dict[str, bytes] = {}
    for piece in PIECES:
        raw = piece.encode()
        for name, text in (
            ("plain", piece),
            ("json", json.dumps(piece)[1:-1]),
            ("json in json", json.dumps(json.dumps(piece)[1:-1])[1:-1]),
            ("ascii", ascii(piece)[1:-1]),
            ("bytes", repr(raw)[2:-1]),
            ("html", html.escape(piece).encode("ascii", "xmlcharrefreplace").decode()),
            ("url", quote(piece)),
            ("hex", raw.hex()),
        ):
            found[f"{piece}, {name}"] = text.encode()
        for coding in ("utf-16-le", "utf-16-be", "utf-32-le", "latin-1"):
            found[f"{piece}, {coding}"] = piece.encode(coding)
        for shift in range(3):
            # The first letters depend on what stands before, the last ones on what follows.
            text = base64.b64encode(bytes(shift) + raw)
            found[f"{piece}, base64 {shift}"] = text[4 if shift else 0 : len(text) // 4 * 4 - 4]
    return found


NEEDLES = {needle: name for name, needle in needles().items()}
_ANY = re.compile(b"|".join(re.escape(needle) for needle in sorted(NEEDLES, key=len, reverse=True)))
_PACKED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")


def hits(place: Path) -> list[str]:
    """Every piece in a file or under a directory, file names included, as `where: piece, spelling`."""
    paths = [place, *sorted(place.rglob("*"))] if place.is_dir() else [place]
    found = []
    for path in paths:
        found += [f"name of {path}: {one}" for one in said(path.name.encode())]
        if path.is_file() and not path.is_symlink():
            for where, data in _contents(path):
                found += [f"{where}: {one}" for one in said(data)]
    return found


def said(data: bytes) -> list[str]:
    """The pieces in some bytes, and in what is packed in them."""
    found = {NEEDLES[match.group()] for match in _ANY.finditer(data)}
    for match in _PACKED.finditer(data):
        with suppress(zlib.error):
            unpacked = zlib.decompressobj(wbits=47).decompress(data[match.start() :])
            found |= {f"packed {one}" for one in said(unpacked)}
    return sorted(found)


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    data = path.read_bytes()
    yield str(path), data
    if data.startswith(b"SQLite format 3"):
        # A value that is longer than a page lies in pieces in the file.
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.text_factory = bytes
            tables = database.execute("select name from sqlite_master where type = 'table'").fetchall()
            for (table,) in tables:
                for row in database.execute(f'select * from "{table.decode()}"'):
                    for value in row:
                        if isinstance(value, bytes):
                            yield f"{path} table {table.decode()}", value


def planted(place: Path) -> list[Path]:
    """One file for each way to hide a value that the search knows: the proof that it can fail."""
    text = CANARIES[1]
    files = {
        "plain.log": text.encode(),
        "escaped.json": json.dumps({"text": text}).encode(),
        "twice.json": json.dumps(json.dumps({"text": text})).encode(),
        "wide.txt": text.encode("utf-16"),
        "page.html": html.escape(text).encode("ascii", "xmlcharrefreplace"),
        "packed.gz": b"head" + gzip.compress(text.encode()) + b"tail",
        "packed.z": b"head" + zlib.compress(json.dumps(text).encode()),
        **{f"letters{n}.b64": base64.b64encode(bytes(n) + text.encode()) for n in range(3)},
        f"{CANARIES[3]}.txt": b"",
    }
    for name, data in files.items():
        (place / name).write_bytes(data)
    with closing(sqlite3.connect(place / "rows.db")) as database:
        database.execute("create table t (a, b)")
        database.execute("insert into t values (?, ?)", (1, zlib.compress(bytes(20_000) + text.encode(), 0)))
        database.commit()
    return [*(place / name for name in files), place / "rows.db"]
