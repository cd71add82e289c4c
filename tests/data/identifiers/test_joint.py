"""Words are judged together, and a rule's find is doubted where no word of it is likely."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aifactory.data.identifiers.features import Word, words
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.joint import evidence
from aifactory.data.identifiers.lines import lines
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.tagger import Weighed, doubted, find


def told(text: str) -> list[Word]:
    return [one for one in words(text, Gazetteer(), "en") if not one.number]


def test_evidence_is_of_joined_words_and_of_the_same_word_elsewhere() -> None:
    found = told("Anna Gnatzke, Plan 5 Gnatzke's\nAnna")
    rows = evidence(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    # anna, gnatzke, plan, gnatzke, s, anna: the comma, the number and the line's end join nothing; the apostrophe does.
    assert rows[0] == (1, 1, 0, 0, 1, 2, 1, 6)
    assert rows[1] == (1, 2, 1, 1, 0, 0, 1, 4)
    assert rows[2] == (1, 3, 0, 0, 0, 0, 0, 0)
    assert rows[3] == (1, 4, 0, 0, 1, 5, 1, 2)
    assert rows[5] == (1, 6, 0, 0, 0, 0, 1, 1)


def test_a_genitive_has_the_odds_of_the_name_itself() -> None:
    assert evidence(told("Gnatzke kommt. Gnatzkes Tochter"), [7.0, 0.0, 1.0, 0.0])[2][6:] == (1, 7)


@given(st.text(max_size=200))
def test_the_lines_cover_the_text_and_every_word_lies_in_its_own(text: str) -> None:
    assert "\n".join(line.text for line in lines(text)) == text
    for word in words(text, Gazetteer(), "de"):
        assert word.line.start <= word.start < word.end <= word.line.end
        assert text[word.line.start : word.line.end] == word.line.text


def test_titles_and_single_letters_are_not_taken_with_a_name() -> None:
    text = "Mrs Gnatzke came. L"
    weighed = [Weighed(word, 0.9 if word.key in ("mrs", "gnatzke", "l") else 0.1, 0.0) for word in told(text)]
    assert [text[one.start : one.end] for one in find(text, weighed)] == ["Gnatzke"]


def test_only_weak_finds_are_doubted_and_only_where_no_word_is_likely() -> None:
    text = "Bell Gnatzke"
    weak = Found(0, len(text), "name", "bell gnatzke", 6)
    unlikely = [Weighed(word, 0.01, 0.0) for word in told(text)]
    likely = [*unlikely[:1], Weighed(unlikely[1].word, 0.9, 0.0)]
    assert doubted(weak, unlikely)
    assert not doubted(weak, likely)
    assert not doubted(Found(0, len(text), "name", "of the table", 1), unlikely)
    assert not doubted(weak, [])
