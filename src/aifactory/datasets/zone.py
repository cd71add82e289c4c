"""The restricted zone as a crossing reads it. Errors name files by what they are and rows by number, never a value."""

from __future__ import annotations

import csv
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from aifactory.data.identifiers import ROLES, Person, Secret, Table
from aifactory.data.identifiers.measure import Marked
from aifactory.errors import FactoryError
from aifactory.namespace.restricted import open_zone
from aifactory.project import Project
from aifactory.store import hash_file

KEY_FILE, KEY = "AIFACTORY_CROSSING_KEY_FILE", "AIFACTORY_CROSSING_KEY"
CONTENT = ("notes", "patients")
RESTRICTED = "restricted"
"""The parameter of a planned crossing that names what it reads: {"fingerprint": ..., "key": ...}."""


@dataclass(frozen=True)
class Note:
    """One note as the zone has it; `row` is its number in the file, from 1."""

    row: int
    note: str
    patient: str
    on: date
    text: str
    marked: tuple[Marked, ...] = ()


@dataclass(frozen=True)
class Zone:
    """The folder of one crossing, its key, and the parameters of the stage."""

    folder: Path
    secret: Secret
    parameters: Mapping[str, Any]

    @classmethod
    def open(cls, parameters: Mapping[str, Any]) -> Zone:
        """Raises FactoryError: "restricted_zone", "crossing_key"."""
        outside = own_folders(Project.current())
        return cls(open_zone(parameters["zone"], outside=outside), load_secret(outside), parameters)

    def fingerprint(self) -> str:
        """What stands for the content of the notes and of the patient table: 64 hex digits, told by the key only.
        The files are read as streams, whatever their size."""
        digests = "".join(_digest(self._file(name), name) for name in CONTENT)
        return self.secret.fingerprint(self.parameters["zone"], digests.encode())

    def seen(self) -> dict[str, str]:
        """What stands in the zone and the key that it is read with, by what tells nothing of them."""
        return {"fingerprint": self.fingerprint(), "key": self.secret.id}

    def people(self) -> list[Person]:
        """The patient table."""
        identifiers: Mapping[str, str] = self.parameters["identifiers"]
        key = self.parameters["columns"]["patient"]
        found = []
        with self._file("patients").open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = sorted({key, *identifiers} - set(rows.fieldnames or ()))
            if missing:
                raise _wrong("the patient table lacks columns", ", ".join(missing), "the columns that are declared")
            for n, row in enumerate(rows, 1):
                values: dict[str, tuple[str, ...]] = {}
                for column, role in identifiers.items():
                    if value := (row[column] or "").strip():
                        values[role] = (*values.get(role, ()), value)
                born = values.pop("birth", ("",))[0]
                try:
                    found.append(Person(row[key], values, date.fromisoformat(born) if born else None))
                except (ValueError, TypeError):
                    raise _wrong(
                        f"row {n} of the patient table can't be read", "a date that is none", "YYYY-MM-DD"
                    ) from None
        return found

    def table(self) -> Table:
        """The same with its indexes."""
        return Table.of(self.people())

    def notes(self, which: str = "notes") -> Iterator[Note]:
        """The notes, or those that are `annotated`."""
        names: Mapping[str, str] = self.parameters["columns"]
        with self._file(which).open(encoding="utf-8") as file:
            for n, line in enumerate(file, 1):
                try:
                    row = json.loads(line)
                    marked = tuple(Marked(**span) for span in row.get("spans", ()))
                    note, patient, text = (str(row[names[name]]) for name in ("note", "patient", "text"))
                    yield Note(n, note, patient, date.fromisoformat(row[names["date"]]), text, marked)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    expected = f"an object with {', '.join(names.values())} (YYYY-MM-DD)"
                    raise _wrong(f"row {n} of the {which} can't be read", type(error).__name__, expected) from None

    def _file(self, name: str) -> Path:
        return file_of(self.folder, self.parameters, name)


def file_of(folder: Path, parameters: Mapping[str, Any], name: str) -> Path:
    """The file in the zone's folder that the parameter `name` names; FactoryError, code "restricted_zone"."""
    path = folder / str(parameters[name])
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        raise FactoryError(
            f"the restricted zone {parameters['zone']} has no file for `{name}`",
            found="no such file in it",
            expected=parameters[name],
            fix="put it there, or correct the stage's parameter",
            code="restricted_zone",
        )
    return path


def _digest(path: Path, name: str) -> str:
    try:
        return hash_file(path)[1]
    except OSError as error:
        raise FactoryError(
            f"the file for `{name}` of the restricted zone can't be read",
            found=error.strerror,
            expected="a file that this identity may read",
            fix="run this as the identity that may read it",
            code="restricted_zone",
        ) from None


def load_secret(outside: tuple[Path, ...] = (), environment: Mapping[str, str] | None = None) -> Secret:
    """The key of pseudonyms, from the file or the variable that names it.

    Raises FactoryError, code "crossing_key": none or both are set, the file is missing, stands in one of the folders
    `outside`, or is open to others than its owner and group, or the key is too weak.
    """
    environment = os.environ if environment is None else environment
    name, text = environment.get(KEY_FILE, ""), environment.get(KEY, "")
    if bool(name) == bool(text):
        raise _key(
            "the key of pseudonyms is not given" if not name else "the key of pseudonyms is given twice",
            f"{KEY_FILE} and {KEY}, both set" if name else f"neither {KEY_FILE} nor {KEY}",
            "one of them",
            f"(umask 077; openssl rand -hex 32 > KEYFILE), and set {KEY_FILE} to it" if not name else "unset one",
        )
    if text:
        return Secret.of(text, KEY)
    path = Path(name).resolve()
    try:
        mode = path.stat().st_mode
        bits = stat.S_IMODE(mode)
        if bits & 0o027:
            what = "the file with the key of pseudonyms is open to others"
            raise _key(what, f"mode {bits:04o}", "0600 or 0640", f"chmod 600 {path}, and make a new key if it was seen")
        if any(path.is_relative_to(place.resolve()) for place in outside):
            what = "the file with the key of pseudonyms stands in the factory's own folders"
            raise _key(what, "inside of them", "a place of its own", f"move it, and set {KEY_FILE} to its new place")
        return Secret.of(path.read_text("utf-8"), KEY_FILE)
    except OSError as error:
        what = "the file with the key of pseudonyms can't be read"
        fix = f"make one: (umask 077; openssl rand -hex 32 > {path})"
        raise _key(what, error.strerror, f"a file that {KEY_FILE} names", fix) from None
    except UnicodeDecodeError:
        raise _key("the file with the key of pseudonyms holds no text", "other bytes", "letters", "make one") from None


def own_folders(project: Project) -> tuple[Path, ...]:
    """Where neither the zone nor its key may stand: the namespace, the project and its state."""
    checkout = (project.state.parent,) if project.state.name == ".aifactory" else ()
    return (project.namespace, *project.lower, project.root, project.state, *checkout)


def _wrong(what: str, found: object, expected: object) -> FactoryError:
    return FactoryError(
        what,
        found=found,
        expected=expected,
        fix="mend the row in the zone; its values are shown nowhere",
        code="restricted_row",
    )


def _key(what: str, found: object, expected: object, fix: str) -> FactoryError:
    return FactoryError(what, found=found, expected=expected, fix=fix, code="crossing_key")


def check_roles(what: str, identifiers: Mapping[str, str]) -> None:
    """FactoryError, code "identifiers", for a column whose role is none, and where names are not among them."""
    wrong = sorted({role for role in identifiers.values() if role not in ROLES})
    lacking = sorted({"given", "family"} - set(identifiers.values()))
    if wrong or lacking:
        raise FactoryError(
            f"{what}: the patient table's columns are not declared as identifiers",
            found=", ".join(wrong) or f"none is {' and none '.join(lacking)}",
            expected=", ".join(ROLES),
            fix="give every column that tells who somebody is one of these roles: identifiers={'surname': 'family'}",
            code="identifiers",
        )
