"""Places where a rule by itself tells a name or an address: forms and tables, known first names, streets and towns."""

from __future__ import annotations

import pytest

from aifactory.data.identifiers import addresses, fields, given
from aifactory.data.identifiers.gazetteer import Gazetteer

GIVEN = frozenset({"doris", "heinz", "rose"})
TOWNS = Gazetteer(given=GIVEN, towns=frozenset({"leeds", "plauen", "bad tolz", "essen"}))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Operateur: Gnatzke; Assistenz: Tlustek", ["Gnatzke", "Tlustek"]),
        ("Next of kin: Okafor, Doris", ["Okafor, Doris"]),
        ("Kind regards,\nP. Gnatzke", ["P. Gnatzke"]),
        ("gez. Tlustek", ["Tlustek"]),
        ("Date | Nurse | Pulse\n03.04. | Okafor | 80\n04.04. | Gnatzke | 84", ["Okafor", "Gnatzke"]),
        ("Date | Drug | Pulse\n03.04. | Aspirin | 80", []),
        ("Pulse: 80, Befund: Unauffällig", []),
    ],
)
def test_forms_tables_and_signatures_say_that_a_name_stands_there(text: str, names: list[str]) -> None:
    assert [text[start:end] for start, end, surely in fields.find(text) if surely] == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Discussed with Doris Okafor today.", ["Doris Okafor"]),
        ("Heinz' Tochter; Heinz von Gnatzke kommt.", ["Heinz", "Heinz von Gnatzke"]),
        ("Tochter von Doris.", ["Doris"]),
        ("OKAFOR, DORIS", ["OKAFOR, DORIS"]),
        ("Temperature rose to 39.", []),
        ("Heinz bodies seen.", []),
        ("doris", []),
    ],
)
def test_a_known_first_name_begins_a_name_unless_it_is_a_term(text: str, names: list[str]) -> None:
    assert [text[start:end] for start, end in given.find(text, GIVEN, english=True)] == names


@pytest.mark.parametrize(
    ("text", "english", "place"),
    [
        ("Home: 12 Mill Lane, Leeds", True, "12 Mill Lane"),
        ("Lives in Leeds with Doris.", True, "Leeds"),
        ("Kommt aus Plauen, allein.", False, "Plauen"),
        ("wohnhaft Goethestraße 12a, 08523 Plauen", False, "Goethestraße 12a"),
        ("wohnhaft Goethestraße 12a, 08523 Plauen", False, "08523 Plauen"),
        ("Postcode LS1 4DY", True, "LS1 4DY"),
    ],
)
def test_streets_postcodes_and_towns_are_addresses(text: str, english: bool, place: str) -> None:
    assert place in [text[one.start : one.end] for one in addresses.find(text, TOWNS, english=english)]


@pytest.mark.parametrize(
    ("text", "english"),
    [("Pain on the left side at 12 points.", True), ("Leeds chart used.", True), ("Hb 12 g/dl", False)],
)
def test_a_town_without_a_place_to_be_is_none(text: str, english: bool) -> None:
    assert not list(addresses.find(text, TOWNS, english=english))
