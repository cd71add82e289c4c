"""Exit codes by what went wrong."""

import pytest

from aifactory.cli.failures import TYPED, exit_code
from aifactory.errors import FactoryError
from tests.orchestrate.lab import CHECKOUT


def test_every_code_of_a_wrong_word_is_one_that_the_machinery_raises():
    source = "\n".join(path.read_text() for path in (CHECKOUT / "src").rglob("*.py") if path.name != "failures.py")
    assert not [code for code in TYPED if f'"{code}"' not in source]


@pytest.mark.parametrize(
    ("code", "expected"), [("unknown_override", 2), ("override_value", 2), ("key", 2), ("why", 2), ("integrity", 1)]
)
def test_a_wrong_word_is_wrong_usage_and_all_else_has_failed(code: str, expected: int):
    assert exit_code(FactoryError("what", code=code)) == expected
