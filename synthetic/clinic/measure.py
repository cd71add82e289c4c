"""`python -m synthetic.clinic.measure FOLDER`: how well the method does on the templates of a folder. Totals only.

`trial` and `heldout` are for measuring: nobody who works on the method reads what is missed in their notes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from datetime import date

from aifactory.data.identifiers import Person as Row
from aifactory.data.identifiers import Pseudonymizer, Secret, Table
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.measure import Marked, Measure
from aifactory.data.identifiers.patterns import Presidio
from aifactory.data.identifiers.spans import KINDS
from synthetic.clinic.__main__ import made
from synthetic.clinic.people import Person, people
from synthetic.clinic.render import templates

ROLES = ("given", "middle", "family", "mail", "street", "postcode", "city")
OTHERS = {"mrn": "id", "insurance": "id", "phone": "phone", "mobile": "phone"}


def rows(table: list[Person]) -> list[Row]:
    """People of the generator as the patient table knows them."""
    made = []
    for person in table:
        values: dict[str, list[str]] = defaultdict(list)
        for column, role in {**{role: role for role in ROLES}, **OTHERS}.items():
            values[role].append(str(person.values[column]))
        made.append(Row(person.values["patient"], {role: tuple(of) for role, of in values.items()}, person.born))
    return made


def measure(folder: str, each: int, seed: int) -> Measure:
    """The method on `each` notes of every template; people and notes are those of `python -m synthetic.clinic`."""
    table, strangers = people(90, seed), people(90, seed + 1, oldest=70)
    method = Pseudonymizer(Secret(b"measure" * 8), Table.of(rows(table)), Presidio(), Gazetteer.load())
    used, counts = templates(folder), Measure()
    for row in made(used, table, strangers, each * len(used), seed + 2, marked=True):
        marks = [Marked(one["start"], one["end"], one["kind"], one["known"]) for one in row["spans"]]
        counts.add(
            row["text"], marks, method.note(row["text"], row["patient"], date.fromisoformat(row["date"])).replaced
        )
    return counts


def main() -> None:
    """Print the figures by kind."""
    parser = argparse.ArgumentParser(prog="synthetic.clinic.measure", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", help="a folder of templates: development, trial, heldout")
    parser.add_argument("--each", type=int, default=12, help="notes of each template")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    counts = measure(asked.folder, asked.each, asked.seed)
    print("".join(f"{word:>16}" for word in ("", "in the table", "others", "precision")))
    for kind in (*KINDS, None):
        known, other = (sum(n for (k, t), n in counts.marked.items() if t == is_known and kind in (None, k))
                        for is_known in (True, False))  # fmt: skip
        cells = [
            f"{counts.recall(True, kind):.3f} of {known}" if known else "-",
            f"{counts.recall(False, kind):.3f} of {other}" if other else "-",
            f"{counts.precision(kind):.3f}" if sum(n for k, n in counts.replaced.items() if kind in (None, k)) else "-",
        ]
        print("".join(f"{cell:>16}" for cell in (kind or "all", *cells)))


if __name__ == "__main__":
    main()
