"""XML from outside, read with an error that names the file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from aifactory.errors import FactoryError


def parse_xml(content: bytes | Path, name: str = "") -> ElementTree.Element:
    """The root element of a document. Raises FactoryError (code "malformed") that names it (`name`, else the file) and
    the place, never its text. Entities from outside are not fetched."""
    name = name or (content.name if isinstance(content, Path) else "the document")
    data = content.read_bytes() if isinstance(content, Path) else content
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise FactoryError(
            f"{name}: malformed XML",
            found=f"{error} in {len(data)} bytes",
            expected="a well-formed document",
            fix="mend the file, or take it from its publisher again",
            code="malformed",
        ) from None


def text_of(element: ElementTree.Element | None) -> str:
    """All text under an element, every line trimmed, blank lines left out; "" without an element."""
    if element is None:
        return ""
    lines = (" ".join(line.split()) for line in "".join(element.itertext()).splitlines())
    return "\n".join(line for line in lines if line)
