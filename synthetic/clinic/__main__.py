"""`python -m synthetic.clinic --zone DIR`: fill a restricted zone with a clinic that does not exist.

Writes `patients.csv` (the patient table), `notes.jsonl` (notes of the development templates), and `annotated.jsonl`
(notes of the held-out templates, with every identifier marked) into `DIR/clinic`. The same seed gives the same files.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from synthetic.clinic.people import COLUMNS, Person, people
from synthetic.clinic.render import Template, render, templates


def main() -> None:
    """Write the files, readable by this user only."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="synthetic.clinic", description=about)
    parser.add_argument("--zone", type=Path, required=True, help="the folder that AIFACTORY_RESTRICTED will name")
    parser.add_argument("--patients", type=int, default=90)
    parser.add_argument("--notes", type=int, default=450)
    parser.add_argument("--annotated", type=int, default=12, help="notes of each held-out template")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    os.umask(0o077)
    folder = asked.zone / "clinic"
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, asked.patients, asked.notes, asked.annotated, asked.seed)
    print(f"{folder}: {asked.patients} patients, {asked.notes} notes, {asked.annotated} of each held-out template")


def write(folder: Path, patients: int, notes: int, annotated: int, seed: int) -> None:
    """The three files of the zone."""
    table = people(patients, seed)
    strangers = people(max(40, patients), seed + 1, oldest=70)
    with (folder / "patients.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(file, COLUMNS)
        rows.writeheader()
        rows.writerows(person.row() for person in table)
    _lines(folder / "notes.jsonl", made(templates("development"), table, strangers, notes, seed, marked=False))
    heldout = templates("heldout")
    _lines(folder / "annotated.jsonl", made(heldout, table, strangers, annotated * len(heldout), seed + 2, marked=True))


def made(
    used: list[Template], table: list[Person], strangers: list[Person], number: int, seed: int, *, marked: bool
) -> Iterable[dict[str, Any]]:
    """So many notes, the templates in turn, each of a patient and with relatives and staff of its language."""
    chance = random.Random(f"notes {seed}")
    for n in range(number):
        template = used[n % len(used)]
        patient = chance.choice([person for person in table if person.lang == template.lang])
        others = [person for person in strangers if person.lang == template.lang]
        on = date(2023, 1, 1) + timedelta(days=chance.randrange(1000))
        text, spans = render(template, patient, others, on, chance)
        row = {"note": f"{template.name}-{n:05d}", "patient": patient.values["patient"], "date": on.isoformat()}
        yield {**row, "text": text, **({"spans": spans} if marked else {})}


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
