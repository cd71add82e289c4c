"""Finding what the patient table knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aifactory.data.identifiers.fold import WORD, Token, bare, forms, near, tokens
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.table import PARTICLES, Known, Person, Table
from aifactory.data.identifiers.words import ORDINARY

LONGEST = 14
"""Runs of letters or digits that one value may be broken into."""
BETWEEN = re.compile(r"[^\w\0]{0,4}")
TITLES = re.compile(r"(?:\b(?:mr|mrs|ms|miss|mx|sir|dr|prof|herrn?|frau|fr|hr)\b\.?\s{1,2})+$", re.IGNORECASE)


def values(text: str, table: Table, person: Person | None) -> Iterator[Found]:
    """Numbers, mails, addresses of the table, however they are spaced, dashed or broken over lines."""
    runs = tokens(text)
    own: Mapping[str, Known] = table.own.get(person.id, {}) if person else {}
    longest = table.longest
    for first in range(len(runs)):
        joined = [""]
        best: tuple[int, Known] | None = None
        for last in range(first, min(first + LONGEST, len(runs))):
            if last > first and not BETWEEN.fullmatch(text, runs[last - 1].end, runs[last].start):
                break
            pieces = forms(runs[last].text)
            joined = list(dict.fromkeys(head + piece for head in joined for piece in pieces))[:8]
            if min(map(len, joined)) > longest:
                break
            for one in joined:
                known = own.get(one) or table.everywhere.get(one)
                if known is not None:
                    best = (last, known)
        if best is None and person:
            best = _slipped(runs, first, text, table.slips(person.id))
        if best is not None:
            start, end = runs[first].start, runs[best[0]].end
            start -= len(text[:start]) - len(text[:start].rstrip("+(")) if best[1].kind == "phone" else 0
            if best[1].kind == "address":
                # The house number, which may be another than the table's, and the country before a postcode.
                before = re.search(r"\b(?:DE?|AT?|CH|GB|UK)[ -]$", text[:start])
                start = before.start() if before and text[start].isdigit() else start
                after = re.compile(r"[ ]\d{1,4}[a-z]?(?![\w.,]\d|\w)").match(text, end)
                end = after.end() if after and best[1].street else end
            yield Found(start, end, best[1].kind, best[1].who, 0)


def _slipped(
    runs: list[Token], first: int, text: str, wanted: Mapping[str, tuple[tuple[str, Known], ...]]
) -> tuple[int, Known] | None:
    """A town or a street of the patient with one slip of the hand."""
    joined = ""
    near_ones = wanted.get(runs[first].key[0], ())
    for last in range(first, min(first + 6, len(runs)) if near_ones else first):
        if last > first and not BETWEEN.fullmatch(text, runs[last - 1].end, runs[last].start):
            break
        joined += runs[last].key
        for spelling, known in near_ones:
            if near(joined, spelling) and text[runs[first].start].isalnum():
                return last, known
    return None


def own_names(text: str, person: Person) -> Iterator[Found]:
    """The names of the note's patient: whole or in part, in any case, with one slip, with initials, with a title."""
    words = tokens(text, WORD)
    hits = [_hit(word, person) for word in words]
    names = [name[0].casefold() for name in person.names()]
    for n, word in enumerate(words):
        if (
            n + 1 < len(words)
            and hits[n] is None
            and re.fullmatch(r"-?\s*\n\s*|[ -]", text[word.end : words[n + 1].start])
        ):
            joined = Token(word.start, words[n + 1].end, word.text + words[n + 1].text, word.key + words[n + 1].key)
            if _hit(joined, person) == "exact":
                hits[n] = hits[n + 1] = "exact"
    for n, word in enumerate(words):
        around = [m for m in (n - 1, n + 1) if 0 <= m < len(words) and hits[m] in ("exact", "slip")]
        gaps = [text[min(words[m].end, word.end) : max(words[m].start, word.start)] for m in around]
        beside = any(re.fullmatch(r"[ ,.^\n]{1,3}", gap) for gap in gaps)
        if hits[n] == "slip" and not (beside or TITLES.search(text[: word.start]) or _looks_like_a_name(word.text)):
            hits[n] = None
    for n in [*range(len(words)), *reversed(range(len(words)))]:
        if hits[n] is None and len(words[n].text) == 1 and words[n].key in names:
            close = [m for m in (n - 1, n + 1) if 0 <= m < len(words) and hits[m]]
            if any(_joins(text[min(words[m].end, words[n].end) : max(words[m].start, words[n].start)]) for m in close):
                hits[n] = "initial"
    taken = -1
    for n in range(len(words)):
        if hits[n] is None or n <= taken:
            continue
        last = n
        while last + 1 < len(words) and hits[last + 1] and _joins(text[words[last].end : words[last + 1].start]):
            last += 1
        taken = last
        end = words[last].end
        if genitive := re.match(r"['’]s?\b", text[end:]):
            end += genitive.end()
            taken += genitive.group()[-1] == "s"
        if barrel := re.match(r"-[A-ZÀ-ÖØ-Þ][^\W\d_]+", text[end:]):
            end += barrel.end()
            taken += len(WORD.findall(barrel.group()))
        start, end = _with_particles(text, words[n].start, end, person)
        title = TITLES.search(text[:start])
        yield Found(title.start() if title else start, end, "name", f"patient {person.id}", 1)
    yield from _initials(text, person)


def _looks_like_a_name(word: str) -> bool:
    """Short words need to look like one: a slip away from a short name there are many."""
    if word.islower():
        return len(word) >= 6 and bare(word) not in ORDINARY
    return word[0].isupper() and (len(word) >= 4 or (len(word) == 3 and word.istitle() and bare(word) not in ORDINARY))


def _with_particles(text: str, start: int, end: int, person: Person) -> tuple[int, int]:
    """`van der`, where the family is called so."""
    own = {bare(word) for word in person.words() if bare(word) in PARTICLES}
    while own and (before := re.search(r"([^\W\d_]+)\s+$", text[:start])) and _slips(bare(before.group(1)), own):
        start = before.start()
    while own and (after := re.match(r"\s+([^\W\d_]+)", text[end:])) and _slips(bare(after.group(1)), own):
        end += after.end()
    initials = {bare(name)[0] for name in person.names()}
    if own and (before := re.search(r"\b([^\W\d_])\.\s*$", text[:start])) and bare(before.group(1)) in initials:
        start = before.start()
    return start, end


def _slips(word: str, words: set[str]) -> bool:
    return any(near(word, one) and word[0] == one[0] for one in words)


def _joins(between: str) -> bool:
    return len(between) <= 4 and not any(letter.isalnum() or letter in "\0;:/()" for letter in between)


def _hit(word: Token, person: Person) -> str | None:
    spelled = forms(word.text)
    shorter = {form[:-1] for form in spelled if form.endswith("s") and len(form) > 4}
    for name in person.names():
        wanted = forms(name)
        if len(name) <= 2:
            if word.text in (name, name.upper()):
                return "exact"
        elif (spelled | shorter) & wanted:
            return "exact"
        elif (
            len(word.text) >= 2
            and (word.key[0] == bare(name)[0] or len(name) >= 6)
            and (any(near(a, b) for a in spelled for b in wanted) or near(word.text.lower(), name.lower()))
        ):
            return "slip"
    if len(word.text) >= 3 and word.text[0].isupper():
        for name in person.names("given"):
            if len(name) >= len(word.text) + 2 and any(form.startswith(word.key) for form in forms(name)):
                return "exact"
    return None


INITIALS = [
    re.compile(r"\b(?P<first>[^\W\d_])\.\s?(?:\w\.\s?)?(?P<last>[^\W\d_])\."),
    re.compile(
        r"\b(?:[Cc]lient|[Pp]atient(?:in)?|[Pp]t|Pat\.|Mr|Mrs|Ms|Herr|Frau|Re:?)\s"
        r"(?P<name>(?P<first>[^\W\d_])(?P<last>[^\W\d_]))\b"
    ),
    re.compile(
        r"\b(?P<first>[^\W\d_])(?P<last>[^\W\d_])"
        r"(?=\s(?:attended|reports|reported|said|says|states|denies|was|is|has|berichtet|kam|wurde)\b)"
    ),
    re.compile(r"\b(?P<first>[^\W\d_])(?P<middle>[^\W\d_])(?P<last>[^\W\d_])\b"),
    re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Frau|Herrn?|Fr|Hr)\.?\s(?P<last>[^\W\d_])\.?(?![\w])"),
]


def _initials(text: str, person: Person) -> Iterator[Found]:
    """`A.M.`, `AM` after a word that people stand after or before what they do, `AXM`, `Mrs M.`"""
    given, family = person.names("given")[:1], person.names("family")
    if not given or not family:
        return
    letters = {
        "first": {given[0][0]},
        "middle": {name[0] for name in person.names("middle")},
        "last": {name[0] for name in family},
    }
    for shape in INITIALS:
        for hit in shape.finditer(text):
            groups = hit.groupdict()
            if all(groups[role] in wanted for role, wanted in letters.items() if role in groups):
                start, end = hit.span("name") if "name" in groups else hit.span()
                yield Found(start, end, "name", f"patient {person.id}", 1)


def other_names(text: str, table: Table, person: Person | None) -> Iterator[Found]:
    """Given and family name, side by side in either order, of anybody in the table."""
    words = tokens(text, WORD)
    for n, word in enumerate(words):
        ids = {one for form in forms(word.text) for one in table.families.get(form, ())}
        for other in sorted(ids - ({person.id} if person else set())):
            given = {form for name in table.people[other].names("given") for form in forms(name)}
            for m in (n - 2, n - 1, n + 1, n + 2):
                if not 0 <= m < len(words) or not forms(words[m].text) & given:
                    continue
                first, last = min(n, m), max(n, m)
                gaps = [text[words[k].end : words[k + 1].start] for k in range(first, last)]
                if all(re.fullmatch(r"[ ,.^\n]{1,3}", gap) for gap in gaps) and (
                    last - first == 1 or len(words[first + 1].text) == 1
                ):
                    yield Found(words[first].start, words[last].end, "name", f"patient {other}", 2)
