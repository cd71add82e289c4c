"""What the audit's own search finds in a text that would be published."""

from __future__ import annotations

from datetime import date

import pytest

from aifactory.data.identifiers.survivors import Audit

VALUES = {
    "given": ("Zoë",),
    "family": ("van der Müller-Groß",),
    "id": ("C52637174", "K7"),
    "phone": ("+49 30 9334265",),
    "mail": ("zoe@example.org",),
    "street": ("Lindenstraße 12",),
    "postcode": ("12345",),
    "city": ("Bad Tölz",),
}
AUDIT = Audit([("P1", VALUES, date(1961, 2, 3)), ("P2", {"given": ("Max",), "family": ("Zorn",)}, date(2023, 2, 3))])
ON = date(2024, 1, 1)

LEFT = [
    ("name", "Frau Zoe kam"),
    ("name", "MÜLLER"),
    ("name", "(groß)"),
    ("id", "C-526 371 74"),
    ("id", "Fall K7."),
    ("phone", "030/9334265"),
    ("phone", "+49 (30) 933-42-65"),
    ("mail", "ZOE@\nEXAMPLE.ORG"),
    ("address", "LINDENSTRASSE 12"),
    ("address", "in Bad Tolz"),
    ("address", "D-12345 "),
    ("date", "geb. 3.2.61"),
    ("date", "1961-02-03"),
    ("date", "02/03/1961"),
    ("date", "3 February 1961"),
    ("date", "Feb 3, 1961"),
    ("date", "19610203"),
    ("name", "Bruder Max Zorn"),
    ("name", "ZORN, MAX"),
]


@pytest.mark.parametrize(("kind", "text"), LEFT)
def test_what_the_table_knows_is_seen(kind: str, text: str) -> None:
    assert AUDIT.count(f"xx {text} yy", "P1", ON)[kind] > 0


@pytest.mark.parametrize(
    "text",
    [
        "[name:ZOEZOEZO] der [id:C5263717] von [address:BADTOLZA] am 04.02.1961, 52637, 9334 265, zoem, grosse",
        "",
        "Max kam, und Zorn auch.",
        "geboren am 03.02.1962",
    ],
)
def test_pseudonyms_small_words_and_names_of_others_are_not(text: str) -> None:
    assert AUDIT.count(text, "P1", ON) == {}


def test_of_a_child_any_moved_date_may_be_the_birthday() -> None:
    assert AUDIT.count("am 03.02.2023", "P2", ON) == {}
    assert AUDIT.count("am 03.02.2023", "P2", date(2033, 1, 1)) == {"date": 1}
