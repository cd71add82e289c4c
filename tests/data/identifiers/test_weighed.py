"""Words are weighed by their form, the lists that have them and what stands around them."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.data.identifiers import Pseudonymizer, Secret, Table
from aifactory.data.identifiers.features import features, words
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.tagger import Weights, find, weigh

WORDS = frozenset(["discussed", "with", "the", "plan", "drain", "out", "wound", "Wunde", "Station", "mit", "Drainage"])
LISTS = Gazetteer(
    given=frozenset({"doris", "heinz"}),
    towns=frozenset({"leeds"}),
    families={"okafor": 2, "ward": 1},
    knows=lambda word, language: word in WORDS,
)
ON = date(2024, 5, 14)


def method(gazetteer: Gazetteer | None = LISTS) -> Pseudonymizer:
    return Pseudonymizer(Secret(b"0123456789abcdef" * 2), Table.of([]), None, gazetteer)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Discussed with Okafor, who agrees.", "Okafor"),
        ("Drain out. Plan with Doris Okafor.", "Okafor"),
        ("Drainage ex durch Gnatzke, Wunde reizlos.", "Gnatzke"),
    ],
)
def test_a_family_name_alone_is_told_by_what_stands_around_it(text: str, name: str) -> None:
    assert name not in method().note(text, "nobody", ON).text


@pytest.mark.parametrize(
    "text",
    [
        "Plan: drain out. Bisoprolol 2.5 mg, Metformin 1 g.",
        "Wunde reizlos, Drainage gezogen. Pantoprazol 40 mg.",
        "GCS 15",
    ],
)
def test_drugs_and_findings_stay(text: str) -> None:
    assert method().note(text, "nobody", ON).text == text


@given(st.text(max_size=200), st.sampled_from(["en", "de"]))
def test_any_text_is_weighed_word_by_word(text: str, language: str) -> None:
    """Every run of letters once, in order, each with two shares; what is found lies in the text and doesn't overlap."""
    weighed = list(weigh(text, LISTS, language, Weights.load()))
    assert all(0 <= share <= 1 for one in weighed for share in (one.name, one.address))
    ends = [0, *(one.word.end for one in weighed)]
    assert all(before <= one.word.start < one.word.end for before, one in zip(ends, weighed, strict=False))
    for kind in ("name", "address"):
        found = [one for one in find(text, weighed) if one.kind == kind]
        assert all(a.end <= b.start for a, b in pairwise(found))
        assert all(0 <= one.start < one.end <= len(text) for one in found)


def test_no_word_stands_for_itself_unless_it_is_listed() -> None:
    """Two names that the lists don't know are told by the same features: no name is in the weights."""
    told = [
        sorted(features(words(f"Plan with {name} today", LISTS, "en"), 2, "en", frozenset({"with"})))
        for name in ("Gnatzke", "Tlustek")
    ]
    assert told[0] == told[1]
    assert any("with" in feature for feature in told[0])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Mother is well at 95.", "95"),
        ("Oma lebt noch, rüstige 93.", "93"),
        ("He's 96 and drives.", "96"),
        ("Vater gest. mit 91.", "91"),
    ],
)
def test_ages_of_relatives_are_capped(text: str, left: str) -> None:
    told = method(None).note(text, "nobody", ON).text
    assert left not in told
    assert "90+" in told


@pytest.mark.parametrize(
    "text", ["BP 92/60, sats 93 on air.", "Gehstrecke 94 Meter, dann 92.", "pain 10/10, weight 91 kg"]
)
def test_measures_are_no_ages_and_no_dates(text: str) -> None:
    assert method(None).note(text, "nobody", ON).text == text


def test_the_first_of_two_days_moves_with_the_second() -> None:
    told = method(None).note("Hospitation am 12./13.07.2024", "nobody", ON).text
    first, second = told.split(" ")[-1].split("./")
    assert (int(second[:2]) - int(first)) % 31 in (1, 2, 3, 4)
    assert "12./13.07." not in told


def test_coded_numbers_go_and_times_stay() -> None:
    told = method(None).note("Claim no. MH-469535401, noted KL7755123. Times 2207 2213 2231 2244", "nobody", ON).text
    assert "469535401" not in told
    assert "7755123" not in told
    assert told.endswith("Times 2207 2213 2231 2244")
