from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.data.xml import parse_xml, text_of
from aifactory.errors import FactoryError


def test_text_is_gathered_and_trimmed_line_by_line() -> None:
    root = parse_xml(b"<a> one  <b>two</b>\n\n <!-- no --> three\t</a>")
    assert text_of(root) == "one two\nthree"
    assert text_of(root.find("missing")) == ""


@pytest.mark.parametrize("content", [b"", b"<a>", b"<a>\xff</a>", b"<a/><b/>", b"<a>&unknown;</a>"])
def test_malformed_xml_is_named_with_its_place_and_without_its_text(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FactoryError, match=r"3_GHR/0000003\.xml: malformed XML") as error:
        parse_xml(content, "3_GHR/0000003.xml")
    assert error.value.code == "malformed"
    assert "line 1" in str(error.value)
    (tmp_path / "file.xml").write_bytes(content)
    with pytest.raises(FactoryError, match=r"file\.xml: malformed"):
        parse_xml(tmp_path / "file.xml")


def test_a_file_from_outside_is_not_read_and_expansion_is_bounded() -> None:
    outside = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    with pytest.raises(FactoryError, match="malformed"):
        parse_xml(outside, "x")
    levels = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
    with pytest.raises(FactoryError, match="malformed"):
        parse_xml(b'<!DOCTYPE a [<!ENTITY l0 "lol">' + levels + b"]><a>&l9;</a>", "x")
