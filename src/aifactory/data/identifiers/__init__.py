"""Identifiers of people in text: found, and replaced by keyed pseudonyms. What it replaces is never in an error."""

from aifactory.data.identifiers.method import Pseudonymizer, Replaced, Result
from aifactory.data.identifiers.secret import Secret
from aifactory.data.identifiers.table import ROLES, Person, Table

__all__ = ["ROLES", "Person", "Pseudonymizer", "Replaced", "Result", "Secret", "Table"]
