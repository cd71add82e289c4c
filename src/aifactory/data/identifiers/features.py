"""What tells whether a word is a name or a place: its form, the lists that have it, and what stands around it. No word
stands for itself, except small words and cues, which are listed with the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aifactory.data.identifiers.fold import RUN, bare, words_of
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.lines import Line, lines
from aifactory.data.identifiers.terms import AFTER, ENDING, EPONYMS, TERMS
from aifactory.data.identifiers.words import DONE, ENGLISH_MONTHS, GERMAN_MONTHS, ORDINARY, RELATION, ROLE, TITLE

CUES = {
    name: words_of(re.sub(r"[\\?\[\].]", " ", words.replace("|", " ")))
    for name, words in (("title", TITLE), ("relation", RELATION), ("role", ROLE), ("done", DONE))
}
MONTHS = words_of(
    " ".join((*ENGLISH_MONTHS, *GERMAN_MONTHS, *(name[:3] for name in (*ENGLISH_MONTHS, *GERMAN_MONTHS))))
)
SIDES = (-2, -1, 1, 2)
FAR = (-4, -3, 3)
LANGUAGES = ("en", "de")
LONGEST = 40


@dataclass(frozen=True)
class Word:
    """A run of letters or digits: `about` is all that is known of it, `kind` the short form of that, `key` itself."""

    start: int
    end: int
    key: str
    about: tuple[str, ...]
    kind: str
    before: str
    """What stands between the word before and it."""
    listed: str
    """Its shape, and which dictionaries have it in lower case (l) and with a capital (c)."""
    line: Line
    edge: str

    @property
    def number(self) -> bool:
        """Whether it is a run of digits."""
        return self.kind[-1] == "d"


def words(text: str, gazetteer: Gazetteer, language: str) -> list[Word]:
    """The words of a note, each with what is known of it by itself."""
    found: list[Word] = []
    end = 0
    rest = lines(text)
    line = next(rest)
    for hit in RUN.finditer(text):
        while hit.start() > line.end:
            line = next(rest)
        about, kind = _about(hit.group(), gazetteer, language)
        gap, listed = _gap(text[end : hit.start()], end), _listed(hit.group(), gazetteer)
        edge = line.edge(hit.start(), hit.end())
        found.append(Word(hit.start(), hit.end(), bare(hit.group()), about, kind, gap, listed, line, edge))
        end = hit.end()
    return found


def _listed(word: str, gazetteer: Gazetteer) -> str:
    if word.isdecimal():
        return ""
    return _shape(word) + "".join(
        "l" * gazetteer.knows(word.lower(), one) + "c" * gazetteer.knows(word.capitalize(), one) + "/"
        for one in LANGUAGES
    )


def _gap(between: str, at: int) -> str:
    if at == 0 or "\n" in between:
        rest = between.rpartition("\n")[2].strip()
        return "line" + (rest[-1] if rest else "")
    if "\0" in between:
        return "tag"
    marks = re.sub(r"\s+", "", between)
    return marks[:2] if marks else "  " if len(between) > 1 else between


def _shape(word: str) -> str:
    if word.isdecimal():
        return f"{min(len(word), 5)}d"
    if word.isupper():
        return "A" if len(word) == 1 else "AA" if len(word) < 4 else "AAAA"
    if word.islower():
        return "a"
    return "Aa" if word[1:].islower() else "aA"


def _about(word: str, gazetteer: Gazetteer, language: str) -> tuple[tuple[str, ...], str]:
    shape = _shape(word)
    if shape[-1] == "d":
        return (shape,), shape
    key = bare(word)
    known = _known(word, key, gazetteer, language)
    rank = gazetteer.families.get(key, 0) or (gazetteer.families.get(key[:-1], 0) if key.endswith("s") else 0)
    given = "g" if key in gazetteer.given else "h" if key.endswith("s") and key[:-1] in gazetteer.given else ""
    listed = "o" if key in ORDINARY else "e" if key in EPONYMS else "t" if key in TERMS or key in AFTER else ""
    ending = "x" if len(key) > 5 and ENDING.search(key) else ""
    cue = next((name for name, of in CUES.items() if key in of), "") or ("month" if key in MONTHS else "")
    town = "c" if key in gazetteer.towns else ""
    full = f"{shape}.{known}{given}{rank}{listed or ending}{town}"
    return (
        (full, f"{shape}.{known}", f"{shape}.{given}{rank}", f"{shape}.{listed}{ending}", f"{shape}.{cue}",
         f"{town}{rank}", f"{known}{min(len(word), 9)}"),
        f"{shape}{known}{'g' if given else 'f' if rank in (1, 2) else ''}{'o' if listed or ending else ''}.{cue}",
    )  # fmt: skip


def _known(word: str, key: str, gazetteer: Gazetteer, language: str) -> str:
    """Whether a dictionary has it (k), both of its parts (p), or neither (u)."""
    if any(gazetteer.knows(one, language) for one in dict.fromkeys((word, word.lower(), word.capitalize()))):
        return "k"
    if language == "de" and 8 <= len(word) <= LONGEST:
        lower = word.lower()
        for at in range(4, len(word) - 3):
            tail, head = lower[at:], lower[:at]
            if (gazetteer.knows(tail.capitalize(), language) or gazetteer.knows(tail, language)) and any(
                gazetteer.knows(one, language) for one in (head.capitalize(), head.removesuffix("s").capitalize(), head)
            ):
                return "p"
    return "u"


def features(found: Sequence[Word], n: int, language: str, small: frozenset[str]) -> Iterator[str]:
    """What the n-th word is told by; of the words in `small` the word itself."""
    word = found[n]
    for one in word.about:
        yield f"{language}={one}"
        yield f"={one}"
    full = word.about[0]
    brief = word.kind
    around: dict[int, tuple[str, str, str]] = {}
    for side in SIDES:
        m = n + side
        inside = 0 <= m < len(found)
        kind = found[m].kind if inside else "end"
        itself = found[m].key if inside and found[m].key in small else ""
        gap = found[m + 1 if side < 0 else m].before if inside else "end"
        around[side] = (kind, itself, gap)
        yield f"{side}{kind}"
        if itself:
            yield f"{side}'{itself}"
            yield f"{side}'{itself}|{brief}"
    gap, following = word.before, around[1][2]
    yield f"<{gap}"
    yield f">{following}"
    yield f"<{gap}>{following}|{brief}"
    yield f"<{gap}|{full}"
    for side in (-1, 1):
        kind, itself, between = around[side]
        yield f"{side}{between}{kind}|{brief}"
        yield f"{side}{between}{kind}|{word.about[2]}"
        yield f"{side}{between}{itself or kind}"
    yield f"{around[-1][1] or around[-1][0]}{gap}|{following}{around[1][1] or around[1][0]}"
    yield f"{around[-2][1] or around[-2][0]} {around[-1][1] or around[-1][0]}|{brief}"
    shape, listed = _letters(word), word.listed
    yield f"{language}#{listed}"
    yield f"{language}#{listed}{word.about[2]}"
    yield f"#{listed}|{gap}|{following}"
    yield from _of_line(word, shape, small)
    for side in FAR:
        m = n + side
        if 0 <= m < len(found) and found[m].key in small and found[m].line is word.line:
            yield f"{side}'{found[m].key}{shape}"
    for side in (1, 2):
        if n + side < len(found) and found[n + side].number:
            yield f"{side}d|{full}"


def _letters(word: Word) -> str:
    return word.listed.partition("/")[0].rstrip("lc")


def _of_line(word: Word, shape: str, small: frozenset[str]) -> Iterator[str]:
    line = word.line
    yield f"L{line.form}{line.words}{word.edge}{shape}"
    yield f"L{line.quarters}{line.words}{shape}"
    yield f"L{line.form}{line.quarters}|{word.kind}"
    yield f"L{line.digit}{word.kind}"
    if line.first in small and word.edge != "f":
        yield f"L'{line.first}{shape}"
