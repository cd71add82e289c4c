"""A run's directory has a class, which must be able to hold what the run reads and makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Grant
from aifactory.spec import Build, Context, access_of, access_of_run, check_place, check_run, freeze
from tests.spec.factories import build_spec, evaluate_spec, train_spec
from tests.spec.test_frozen import private_spec

GRANT = Grant("private/clinic", "private/oncology", "board")


@pytest.mark.parametrize(
    ("directory", "of"),
    [
        ("/lab/public/runs/train-1", "public"),
        ("/lab/private/clinic/runs/train-1", "private/clinic"),
        ("/srv/private/public/runs/train-1", "public"),
        ("/lab/private/runs/train-1", None),
        ("/lab/runs/train-1", None),
        ("/lab/public/train-1", None),
    ],
)
def test_the_class_of_a_directory_is_in_its_path(directory: str, of: str | None) -> None:
    assert access_of_run(Path(directory)) == of


def test_what_is_private_is_kept_out_of_a_public_directory() -> None:
    with pytest.raises(FactoryError) as caught:
        check_place(Path("/lab/public/runs/train-1"), ["public/a", "private/clinic/notes"])
    assert caught.value.code == "class"
    assert "private/clinic/notes -> the run train-1 in public/runs" in str(caught.value)
    check_place(Path("/lab/private/clinic/runs/train-1"), ["public/a", "private/clinic/notes"])
    check_place(Path("/lab/private/oncology/runs/train-1"), ["private/clinic/notes"], [GRANT])
    with pytest.raises(FactoryError, match="stands under no class"):
        check_place(Path("/tmp/train-1"), ["public/a"])
    check_place(Path("/tmp/train-1"), [])


def test_a_run_keeps_to_the_class_of_what_it_reads_its_suites_and_what_it_makes() -> None:
    public, private = Path("/lab/public/runs/run-1"), Path("/lab/private/clinic/runs/run-1")
    line = Context(line="private/clinic/models/notes")
    check_run(public, build_spec(), Context())
    check_run(public, train_spec(), Context(line="public/models/tiny"))
    check_run(private, private_spec(), line)
    suites = tuple(ref.evolve({"key": "private/clinic/notes/heldout"}) for ref in evaluate_spec().inputs_of("suite"))
    for spec, context, directory in (
        (private_spec(), line, public),
        (train_spec(), Context(line="public/models/tiny", suites=suites), public),
        (train_spec(), line, public),
        (train_spec(), Context(line="public/models/tiny"), private),
        (build_spec(), Context(), private),
    ):
        with pytest.raises(FactoryError) as caught:
            check_run(directory, spec, context)
        assert caught.value.code == "class"
        assert caught.value.fix


def test_grants_of_the_context_count() -> None:
    directory, line = Path("/lab/private/oncology/runs/train-1"), "private/oncology/models/notes"
    check_run(directory, private_spec(), Context(line=line, grants=(GRANT,)))
    with pytest.raises(FactoryError, match="grant from private/clinic to private/oncology"):
        check_run(directory, private_spec(), Context(line=line))


def test_a_granted_run_stands_in_the_project_that_makes_something_of_it(ns) -> None:
    resolution = {"line": "private/oncology/models/notes"}
    back = Grant("private/oncology", "private/clinic", "board")
    assert access_of(private_spec(), resolution, [GRANT]) == "private/oncology"
    assert access_of(private_spec(), resolution, [GRANT, back]) == "private/oncology"
    path = freeze(ns, private_spec(), resolution, grants=[GRANT])
    assert path.is_relative_to(ns.root / "private/oncology/specs")
    with pytest.raises(FactoryError):
        freeze(ns, private_spec(), resolution)


def test_a_context_keeps_its_grants() -> None:
    context = Context(grants=(GRANT,))
    assert Context.load(context.to_bytes()) == context
    assert Context.load(context.to_bytes()).grants == (GRANT,)
    assert "grants" not in context.resolution()


def test_a_build_can_not_claim_another_class_than_its_key() -> None:
    with pytest.raises(FactoryError) as caught:
        Build.model_validate({**build_spec().build.document(), "access": "private/clinic"})
    assert (caught.value.found, caught.value.expected) == ("private/clinic", "public")
