from __future__ import annotations

import hashlib
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.data.normalize import normalize, text_digest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Two\t words\r\n", "two words"),
        ("ﬁne ½ Å", "fine 1⁄2 å"),
        ("zero\u200bwidth\ufeff so\u00adft", "zerowidth soft"),
        ("Straße", "strasse"),
        ("a\u00a0b\u3000c", "a b c"),
        ("ﷺ", "صلى الله عليه وسلم"),
        ("e\u0301", "é"),
        ("❤\ufe0f", "❤"),
        ("", ""),
        (" \u200b ", ""),
    ],
)
def test_texts_that_differ_in_form_only_have_one_normal_form(text: str, expected: str) -> None:
    assert normalize(text) == expected


@given(st.text())
def test_normalizing_twice_changes_nothing(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_path_for_ascii_gives_what_the_long_one_gives(text: str) -> None:
    # A character outside ASCII takes the long path; it has none but itself as its normal form.
    assert normalize(text + " 骨") == (normalize(text) + " 骨").strip()


def test_every_character_alone_has_a_stable_form_without_format_characters() -> None:
    for point in range(sys.maxunicode + 1):
        if not 0xD800 <= point <= 0xDFFF:
            form = normalize(chr(point))
            assert normalize(form) == form
            assert not any(unicodedata.category(c) == "Cf" for c in form), hex(point)


def test_the_digest_is_the_sha256_of_the_normal_form() -> None:
    assert text_digest(" ACUTE\u200b pain ") == hashlib.sha256(b"acute pain").hexdigest()
    assert text_digest("\ud800") == text_digest("\ud800 ")
