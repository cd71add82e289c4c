"""People who don't exist: patients for the table, and the relatives and staff of whom the table knows nothing."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from faker import Faker

from synthetic.clinic.spelling import Day, Word

LOCALES = {"en": "en_GB", "de": "de_DE"}
COLUMNS = ("patient", "mrn", "insurance", "given", "middle", "family", "birth", "sex", "phone", "mobile", "mail")
COLUMNS += ("street", "postcode", "city", "lang")


class Person:
    """One invented person; attributes are `Word`s (dates are `Day`s), so that a template can spell them."""

    def __init__(self, fake: Faker, chance: random.Random, number: int, lang: str, oldest: int = 80):
        self.lang, self.sex = lang, chance.choice("FM")
        female = self.sex == "F"
        first = fake.first_name_female if female else fake.first_name_male
        born = date(2023, 1, 1) - timedelta(days=chance.randrange(19 * 366, oldest * 365))
        values: dict[str, str] = {
            "patient": f"P{number:05d}",
            "mrn": f"C{chance.randrange(10**7, 10**8)}",
            "insurance": f"{chance.choice('ABEFGHKLMRTVXZ')}{chance.randrange(10**8, 10**9)}",
            "given": first().split("-")[0],
            "middle": first().split("-")[0],
            "family": fake.last_name(),
            "street": fake.street_address().replace("\n", ", ").split(", ")[-1],
            "postcode": fake.postcode(),
            "city": fake.city(),
            "phone": _phone(chance, lang, mobile=False),
            "mobile": _phone(chance, lang, mobile=True),
            "ssn": f"{chance.randrange(101, 665)}-{chance.randrange(11, 99)}-{chance.randrange(1001, 9999)}",
            "card": fake.credit_card_number(card_type="visa16"),
            "iban": fake.iban(),
        }
        if lang == "de":
            values["street"] = f"{fake.street_name()} {chance.randrange(1, 199)}"
        else:
            values["street"] = f"{chance.randrange(1, 299)} {fake.last_name()} {chance.choice(STREETS)}"
        name = f"{values['given']}.{values['family']}".lower().encode("ascii", "ignore").decode().replace(" ", "")
        values["mail"] = f"{name}{chance.randrange(10, 99)}@{chance.choice(('example.org', 'example.com'))}"
        self.born = born
        self.birth = Day(born, lang)
        self.values = values
        for field, value in values.items():
            setattr(self, field, Word(value, chance))

    def age(self, on: date) -> int:
        """Full years on a day."""
        return on.year - self.born.year - ((on.month, on.day) < (self.born.month, self.born.day))

    def row(self) -> dict[str, Any]:
        """The person's row of the patient table."""
        known = {**self.values, "birth": self.born.isoformat(), "sex": self.sex, "lang": self.lang}
        return {column: known[column] for column in COLUMNS}


STREETS = ("Street", "Road", "Lane", "Avenue", "Close", "Drive")


def people(number: int, seed: int, *, oldest: int = 80, first: int = 0) -> list[Person]:
    """So many people, two of three in English; the same for the same seed."""
    chance = random.Random(f"people {seed}")
    fakes = {}
    for lang, locale in LOCALES.items():
        fakes[lang] = Faker(locale)
        fakes[lang].seed_instance(seed)
    made = []
    for n in range(number):
        lang = "de" if n % 3 == 2 else "en"
        made.append(Person(fakes[lang], chance, first + n, lang, oldest))
    return made


def _phone(chance: random.Random, lang: str, *, mobile: bool) -> str:
    last = chance.randrange(10**6, 10**7)
    if lang == "de":
        return f"+49 {chance.choice((151, 160, 171, 176))} {last}{chance.randrange(10)}" if mobile else f"+49 30 {last}"
    if mobile:
        return f"+44 7{chance.randrange(400, 900)} {chance.randrange(100000, 999999)}"
    return f"({chance.choice((212, 312, 415, 617))}) {chance.randrange(201, 989)}-{chance.randrange(1000, 9999)}"
