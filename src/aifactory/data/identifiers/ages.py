"""Ages over 89, in digits and in words; all of them become 90+."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aifactory.data.identifiers.spans import Found

AGE = r"(?P<age>9\d|1[0-2]\d)"
UNIT = r"(?:[\s-]*(?:years?|yrs?|yo\b|y/o|y\.o\.|jährig|jaehrig|jahren?\b|j\.))"
BEFORE = r"(?:aged?|age of|turned|alter:?|im alter von|age:)\s(?:about |ca\. |etwa |von )?"
UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
ENGLISH = rf"(?P<words>ninety(?:[\s-](?:{'|'.join(UNITS)}))?|(?:a |one )hundred(?:[\s-]and[\s-](?:{'|'.join(UNITS)}))?)"
GERMAN = r"\b(?:ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)?(?:und)?neunzig|\bhundert(?:ein|zwei|drei|vier|fünf)?"


def find(text: str) -> Iterator[Found]:
    """Every age of 90 and more, to be written `90+`."""
    shapes = (
        rf"(?<![\d.,/+]){AGE}(?![\d+]|[.,]\d)(?={UNIT})",
        rf"\b{BEFORE}{AGE}(?![\d+%]|[.,]\d|\s?(?:kg|mm|cm|mg))",
        rf"\b{BEFORE}{ENGLISH}\b",
        rf"\b{ENGLISH}(?=[\s-]years?\b)",
    )
    for shape in shapes:
        for hit in re.finditer(shape, text, re.IGNORECASE):
            group = "age" if "age" in hit.groupdict() else "words"
            yield Found(hit.start(group), hit.end(group), "age", "90+", 3, "90+")
    for hit in re.finditer(rf"(?:{GERMAN})(?P<rest>jährig\w*|(?=\s+Jahren?\b))", text, re.IGNORECASE):
        rest = hit.group("rest")
        yield Found(hit.start(), hit.end(), "age", "90+", 3, f"90+-{rest}" if rest else "90+")
