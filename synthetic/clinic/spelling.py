"""How people write the same thing differently: the words after the colon in a template."""

from __future__ import annotations

import random
import re
import unicodedata
from datetime import date

ENGLISH = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
GERMAN = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
]
DAYS = {
    "en": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "de": ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
}
UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}


class Word(str):
    """A value whose format says how it is spelled, `{p.family:upper}`; `chance` decides where a typo lies."""

    chance: random.Random

    def __new__(cls, value: str, chance: random.Random) -> Word:
        word = super().__new__(cls, value)
        word.chance = chance
        return word

    def __format__(self, how: str) -> str:
        return spell(str(self), how, self.chance) if how else str(self)


class Day:
    """A date in a language: its format is one of `strftime`."""

    def __init__(self, value: date, lang: str):
        self.value, self.lang = value, lang

    def __format__(self, how: str) -> str:
        months = GERMAN if self.lang == "de" else ENGLISH
        month, day = months[self.value.month - 1], DAYS[self.lang][self.value.weekday()]
        words = {"%B": month, "%b": month[:3], "%A": day, "%a": day[:3]}
        for mark, word in words.items():
            how = how.replace(mark, word)
        return self.value.strftime(how or "%Y-%m-%d")


def spell(text: str, how: str, chance: random.Random) -> str:
    """`text` in another spelling; KeyError for a word that names none."""
    digits = re.sub(r"\D", "", text)
    return {
        "upper": lambda: text.upper(),
        "lower": lambda: text.lower(),
        "initial": lambda: text[0],
        "short": lambda: text[:4] if len(text) > 5 else text,
        "typo": lambda: typo(text, chance),
        "broken": lambda: broken(text),
        "gap": lambda: gap(text),
        "spaced": lambda: text[:3] + " " + text[3:],
        "digits": lambda: national(text, "") if text[0] in "+(" else digits,
        "plain": lambda: re.sub(r"[^\w+]", "", text),
        "dashed": lambda: "-".join(re.findall(".{1,4}", re.sub(r"\W", "", text))),
        "dotted": lambda: national(text, "."),
        "slashed": lambda: national(text, "").join(["", ""]) if text[0] == "(" else slashed(text),
        "national": lambda: national(text, " "),
        "ascii": lambda: plain(text),
        "umlautless": lambda: "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)),
        "abbreviated": lambda: re.sub("Street", "St.", re.sub("Road", "Rd.", re.sub("straße", "str.", text))),
        "genitive": lambda: text + ("" if text[-1] in "sxz" else "s"),
    }[how]()


def typo(text: str, chance: random.Random) -> str:
    """One slip of the hand in the last word: two letters swapped, one left out, or one doubled."""
    at = text.rfind(" ") + 1
    place = chance.randrange(at + 1, len(text) - 1) if len(text) - at > 3 else len(text) - 1
    slips = [
        text[:place] + text[place + 1 : place + 2] + text[place] + text[place + 2 :],
        text[:place] + text[place + 1 :],
        text[:place] + text[place] + text[place:],
    ]
    return chance.choice([slip for slip in slips if slip != text] or [text])


def broken(text: str) -> str:
    """Over two lines: at a blank where there is one, else in the middle."""
    if " " in text:
        return "\n".join(text.split(" ", 1))
    middle = len(text) // 2
    return f"{text[:middle]}\n{text[middle:]}"


def gap(text: str) -> str:
    """Groups of three, parted by blanks."""
    kept = national(text, "") if text[0] in "+(" else re.sub(r"\W", "", text)
    return " ".join(re.findall(".{1,3}", kept))


def national(text: str, between: str) -> str:
    """A phone number without its country, its groups parted by `between`."""
    groups = re.findall(r"\d+", text)
    if text.startswith("+"):
        groups = ["0" + groups[1], *groups[2:]]
    return between.join(groups)


def slashed(text: str) -> str:
    """`0151/23456789`."""
    groups = national(text, " ").split(" ")
    return f"{groups[0]}/{''.join(groups[1:])}"


def plain(text: str) -> str:
    """Umlauts as two letters, other accents left out."""
    text = "".join(UMLAUTS.get(letter, letter) for letter in text)
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
