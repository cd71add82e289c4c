"""A recipe's line may hold what its mix, its suites and its start are of: by class, under the grants in force."""

from __future__ import annotations

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Grant
from aifactory.spec import GPT, Mix, Recipe, Train

GRANT = Grant("private/clinic", "private/oncology", "board")


def made(line: str, key: str = "public/a/ready", suite: str = "public/a/heldout", start: str | None = None) -> Recipe:
    def tiny() -> Train:
        model = GPT(layers=1, hidden=8, heads=1, context=8)
        return Train(model=model, mix=Mix.of({key: 1.0}), steps=1, start=start)

    return Recipe(function=tiny, line=line, scored_on=(suite,))


NOTES, HELDOUT, LINE = "private/clinic/notes/ready", "private/clinic/notes/heldout", "private/clinic/models/notes"


@pytest.mark.parametrize("read", [{"key": NOTES}, {"suite": HELDOUT}, {"start": LINE}])
def test_what_a_line_reads_needs_a_grant_and_never_makes_it_public(read: dict[str, str]) -> None:
    made("private/clinic/models/a", **read).validate()
    granted = made("private/oncology/models/a", **read)
    granted.validate([GRANT])
    for recipe, grants in ((granted, []), (made("public/models/a", **read), [GRANT])):
        with pytest.raises(FactoryError) as caught:
            recipe.validate(grants)
        assert caught.value.code == "class"
        assert f"{next(iter(read.values()))} -> the line {recipe.line} of recipe tiny" in str(caught.value)
