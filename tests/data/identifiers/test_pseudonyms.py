"""What pseudonyms, moved dates and capped ages keep, whatever the people, the notes and the key are."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.data.identifiers import Person, Pseudonymizer, Secret, Table
from aifactory.data.identifiers.spans import TAG
from aifactory.errors import FactoryError

ADA = Person(
    "P1",
    {
        "given": ("Adelheid",),
        "family": ("Müller-Lüdenscheidt",),
        "id": ("C52637174",),
        "phone": ("+49 30 9334265",),
        "mail": ("ada@example.org",),
        "street": ("Lindenstraße 12",),
        "postcode": ("12345",),
        "city": ("Bad Tölz",),
    },
    date(1960, 2, 1),
)
VIOLA = Person("P3", {"given": ("Viola",), "family": ("van der Dussen",)}, None)
MAY = Person("P2", {"given": ("April",), "family": ("May",)}, date(1970, 1, 1))
TABLE = Table.of([ADA, MAY, VIOLA])
ON = date(2024, 5, 14)
FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y", "%Y%m%d", "%d%b%Y", "%A, %d %B %Y")
keys = st.binary(min_size=32, max_size=64).map(Secret)
words = st.text(st.characters(categories=["L", "N", "P", "Zs"]) | st.sampled_from("\n\t .,:@+-/"), max_size=80)
days = st.dates(date(1990, 1, 1), date(2030, 1, 1))


def method(secret: Secret) -> Pseudonymizer:
    return Pseudonymizer(secret, TABLE, None)


@given(keys, words, words, days)
def test_a_person_has_one_pseudonym_in_every_note_however_written(key: Secret, one: str, other: str, on: date) -> None:
    spelled = ["Adelheid", "ADELHEID", "Frau Müller-Lüdenscheidt", "A. Mueller-Luedenscheidt", "Muller-Ludenscheidt"]
    tag = f"[name:{key.pseudonym('name', 'patient p1')}]"
    for name in spelled:
        text = method(key).note(f"{one}\n\n{name} kam.\n\n{other}", "P1", on).text
        assert tag in text
        assert name not in text
    # In a note of somebody else: by the whole name.
    assert tag in method(key).note("Es kam Adelheid Müller-Lüdenscheidt.", "P2", on).text


@given(keys, keys, st.text(min_size=1, max_size=20))
def test_another_key_gives_other_pseudonyms(key: Secret, other: Secret, value: str) -> None:
    same = key._key == other._key
    assert (key.id == other.id) == same
    assert (key.pseudonym("name", value, 16) == other.pseudonym("name", value, 16)) == same
    assert key.pseudonym("name", value, 16) == Secret(key._key).pseudonym("name", value, 16)
    assert (key.fingerprint("zone", value.encode()) == other.fingerprint("zone", value.encode())) == same


def moved(text: str) -> list[date]:
    return [date.fromisoformat(found) for found in re.findall(r"\d{4}-\d\d-\d\d", text)]


@given(keys, days, days, st.sampled_from(FORMATS), st.sampled_from(["P1", "P2", "nobody"]))
def test_intervals_and_weekdays_stay(key: Secret, first: date, second: date, how: str, patient: str) -> None:
    """Between two dates of a patient, in one note or in several, and written in any way."""
    one = method(key).note(f"Seen {first:%Y-%m-%d}, then {second:{how}} again.", patient, max(first, second)).text
    two = method(key).note(f"Seen {second:%Y-%m-%d}.", patient, max(first, second)).text
    [new_first, *_], [new_second] = moved(one), moved(two)
    assert new_first != first
    assert new_second - new_first == second - first
    assert (first - new_first).days % 7 == 0
    # The name of P2 is a month's, so his dates are written in digits; and whether May is short nobody can tell.
    if patient != "P2" and second.month != 5:
        assert f"then {new_second:{how}} again" in one
    assert method(key).day(patient, first) == new_first.isoformat()


@given(keys, st.integers(1, 110), days)
def test_no_age_over_89_is_left(key: Secret, years: int, on: date) -> None:
    spelled = [
        f"a {years}-year-old man",
        f"aged {years},",
        f"der {years}-jährige Mann",
        f"mit {years} Jahren",
        f"{years} yo",
    ]
    for text in spelled:
        found = method(key).note(text, "P1", on).text
        assert found == (text.replace(str(years), "90+") if years >= 90 else text)
        assert method(key).note(found, "P1", on).text == found
    born = date(on.year - years - 1, 1, 1)
    text = method(key).note(f"born {born.isoformat()}", "P1", on).text
    assert ("[date:90+]" in text) == (years >= 89)


@pytest.mark.parametrize("text", ["ninety-four years old", "turned ninety-four", "die zweiundneunzigjährige Frau"])
def test_an_age_in_words_is_capped(text: str) -> None:
    assert re.search(r"90\+", method(Secret(b"k" * 32)).note(text, "P1", ON).text)


@given(keys, words)
def test_any_text_comes_through_and_the_same_way_twice(key: Secret, text: str) -> None:
    first = method(key).note(text, "P1", ON)
    assert first == method(key).note(text, "P1", ON)
    places = [(one.start, one.end) for one in first.replaced]
    assert places == sorted(places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    # What was not replaced is still there, in its order.
    at = 0
    for start, end in [*places, (len(text), len(text))]:
        assert text[at:start] in first.text
        at = end


SPELLED = [
    ("id", "C52637174"),
    ("id", "c-5263-7174"),
    ("id", "C5263\n7174"),
    ("id", "52 637 174"),
    ("phone", "030 9334265"),
    ("phone", "0049 30 9334265"),
    ("phone", "030/933 42 65"),
    ("phone", "+49 (0)30\n9334265"),
    ("mail", "ADA@EXAMPLE.ORG"),
    ("mail", "ada@exa\nmple.org"),
    ("address", "LINDENSTR. 12"),
    ("address", "Lindenstrasse\n12"),
    ("address", "Bad Toelz"),
    ("address", "12345"),
    ("name", "Adelhied"),
    ("name", "Müllr-Lüdenscheidt"),
    ("name", "adelheid müller-lüdenscheidt"),
    ("name", "Müller-Lüdenscheidt, Adelheid"),
    ("name", "A.M."),
]


@pytest.mark.parametrize(("kind", "value"), SPELLED)
def test_what_the_table_knows_is_found_in_other_spellings(kind: str, value: str) -> None:
    result = method(Secret(b"k" * 32)).note(f"xx: {value}; yy", "P1", ON)
    assert [one.kind for one in result.replaced] == [kind]
    assert TAG.sub("", result.text) == "xx: ; yy"


@pytest.mark.parametrize("name", ["V. van der Dussen", "Frau van der Dusen", "Dussen, Viola van der", "VAN DER DUSSEN"])
def test_particles_of_a_name_go_with_it(name: str) -> None:
    assert TAG.sub("", method(Secret(b"k" * 32)).note(f"- {name} -", "P3", ON).text) == "-  -"


def test_no_number_of_a_lab_is_taken_for_a_date_or_an_identifier() -> None:
    text = "RR 145/90, Hb 13.4, INR 2.4. GFR 91 ml/min, L4/5, 2/14, NYHA III, 3 x 500 mg, SpO2 96 %, MMSE 21/30, T 36.9"
    assert method(Secret(b"k" * 32)).note(text, "P1", ON).text == text


@pytest.mark.parametrize("text", ["", "short", "a" * 64, "ab" * 32])
def test_a_weak_key_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(FactoryError) as caught:
        Secret.of(text, "KEYFILE")
    assert caught.value.code == "crossing_key"
    assert len(text) < 6 or text not in str(caught.value)
    assert "k" * 32 not in repr(Secret(b"k" * 32))


def test_dates_of_every_patient_move_and_not_all_by_the_same() -> None:
    shifts = [Secret(b"z" * 32).shift(f"P{n}") for n in range(500)]
    assert all(0 < -days <= 7 * 104 for days in shifts)
    assert len(set(shifts)) > 80
