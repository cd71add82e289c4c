"""The rows of a crossing."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Crossed:
    """One pseudonymized note: `note` and `patient` are pseudonyms, `date` is moved (ISO 8601)."""

    note: str
    patient: str
    date: str
    text: str
