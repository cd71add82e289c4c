"""What bad declarations get: an error that names the object, both values, and the fix."""

from __future__ import annotations

import pytest

from aifactory.errors import FactoryError

RAW = "raw = source(url='http://x.example/a', sha256='0' * 64)\n"


def test_one_object_under_two_names(lab) -> None:
    error = lab.refused(RAW + "again = raw\n")
    assert (error.code, error.found) == ("two_names", "raw and again")


def test_two_stages_of_one_name_in_a_file(lab) -> None:
    error = lab.refused(RAW + "raw = source(url='http://x.example/b', sha256='0' * 64)\n")
    assert error.code == "unnamed"
    assert "words.py" in error.what


def test_two_functions_of_one_name_name_the_function(lab) -> None:
    error = lab.refused(
        RAW + "@dataset\ndef clean(raw: Path) -> Path: ...\n@dataset\ndef clean(raw: Path) -> Path: ...\n"
    )
    assert error.code == "unnamed"
    assert "clean" in error.found


def test_a_stage_without_a_variable_as_an_input(lab) -> None:
    assert lab.refused("parts = split(source(url='http://x.example/a', sha256='0' * 64), by='a')").code == "unnamed"


def test_a_file_and_a_folder_of_one_name(lab) -> None:
    lab.write({"assets/public/words/__init__.py": "", "assets/public/words/more.py": ""})
    error = lab.refused(RAW)
    assert error.code == "two_keys"
    assert "words.py" in error.what


def test_a_cycle_names_its_members(lab) -> None:
    error = lab.refused(
        """
        @dataset
        def a(c: Path) -> Path: ...
        @dataset
        def b(a: Path) -> Path: ...
        @dataset
        def c(b: Path) -> Path: ...
        """
    )
    assert error.code == "cycle"
    assert error.found.count("->") == 3
    assert all(f"public/words/{name}" in error.found for name in "abc")


def test_a_stage_that_needs_itself(lab) -> None:
    assert lab.refused("@dataset\ndef a(a: Path) -> Path: ...").code == "cycle"


@pytest.mark.parametrize(
    ("text", "close"),
    [
        (RAW + "@dataset\ndef clean(rwa: Path) -> Path: ...", "raw"),
        (
            RAW + "@dataset(inputs={'other': 'public/words/rav'})\ndef clean(other: Path) -> Path: ...",
            "public/words/raw",
        ),
    ],
)
def test_an_unknown_input_lists_close_matches(lab, text: str, close: str) -> None:
    error = lab.refused(text)
    assert error.code == "unknown_input"
    assert close in str(error.expected)


def test_inputs_that_the_function_does_not_take(lab) -> None:
    error = lab.refused(RAW + "@dataset(inputs={'rows': raw})\ndef clean(raw: Path) -> Path: ...")
    assert (error.code, error.found, error.expected) == ("unknown_input", ["rows"], ["raw"])


def test_variadic_functions(lab) -> None:
    assert lab.refused("@dataset\ndef clean(*raws: Path) -> Path: ...").code == "parameters"


def test_a_public_stage_of_private_data_is_refused_with_the_edge(lab) -> None:
    lab.write({"assets/private/onco/notes.py": "from aifactory.datasets import source\n" + RAW})
    error = lab.refused("@dataset(inputs={'raw': 'private/onco/notes/raw'})\ndef clean(raw: Path) -> Path: ...")
    assert error.code == "class"
    assert "private/onco/notes/raw -> public/words/clean" in str(error)


def test_two_private_projects_do_not_mix(lab) -> None:
    lab.write({"assets/private/onco/notes.py": "from aifactory.datasets import source\n" + RAW})
    error = lab.refused(
        "@dataset(inputs={'raw': 'private/onco/notes/raw'})\ndef clean(raw: Path) -> Path: ...",
        "assets/private/cardio/notes.py",
    )
    assert error.code == "class"


@pytest.mark.parametrize("name", ["Words", "my-words", "wörter", "a__b", "9words", "x" * 70])
def test_hostile_file_names(lab, name: str) -> None:
    error = lab.refused(RAW, f"assets/public/{name}.py")
    assert error.code == "key"
    assert name[:20] in str(error)


@pytest.mark.parametrize("name", ["Raw", "_raw", "raw__a", "checkpoints_É"])
def test_hostile_variable_names(lab, name: str) -> None:
    error = lab.refused(f"{name} = source(url='http://x.example/a', sha256='0' * 64)")
    assert error.code == "key"
    assert "words.py" in str(error)


def test_reserved_folders(lab) -> None:
    assert lab.refused(RAW, "assets/public/runs.py").code == "key"


def test_an_import_error_names_the_file(lab) -> None:
    error = lab.refused("import a_module_that_is_not_there")
    assert error.code == "import"
    assert "assets/public/words.py" in str(error)


def test_a_syntax_error_names_the_file(lab) -> None:
    assert "words.py" in str(lab.refused("def ("))


CLEAN = RAW + "@dataset(checks=[{check}])\ndef clean(raw: Path) -> Iterator[Row]: ...\n"


@pytest.mark.parametrize("check", ["unique('idd')", "no_nulls('textt', 'id')", "disjoint('grop')"])
def test_a_check_of_an_unknown_column(lab, check: str) -> None:
    error = lab.refused(CLEAN.format(check=check))
    assert error.code == "unknown_column"
    assert "public/words/clean" in error.what
    assert error.expected in ("id", "text", "group")


@pytest.mark.parametrize(
    "stage",
    [
        "x = split(clean, by='grop')",
        "x = tokenizer(clean, text='txt')",
        "p = split(clean, by='group')\nb = tokenizer(p)\nx = tokenize(p, tokenizer=b, learn='answr')",
        "x = suite(clean, scorer=MultipleChoice(question='text', answer='grp'))",
    ],
)
def test_a_factory_that_reads_an_unknown_column(lab, stage: str) -> None:
    assert lab.refused(CLEAN.format(check="rows(1)") + stage).code == "unknown_column"


def test_two_checks_of_one_name(lab) -> None:
    assert lab.refused(CLEAN.format(check="rows(1), rows(min=3)")).code == "two_checks"


def test_something_else_than_a_check(lab) -> None:
    error = lab.refused(CLEAN.format(check="unique"))
    assert error.code == "checks"
    assert "unique" in str(error)


def test_integrity_can_not_be_turned_off(lab) -> None:
    stages = lab.load(
        CLEAN.format(check="files().warning()").replace("files()", "__import__('aifactory').datasets.checks.files()")
    )
    checks = {check.name: check.blocking for check in stages["public/words/clean"].checks}
    assert checks["files"] is True


def test_an_own_check_takes_the_place_of_an_implied_one(lab) -> None:
    stages = lab.load(CLEAN.format(check="not_empty().warning()"))
    found = [check for check in stages["public/words/clean"].checks if check.name == "not_empty"]
    assert [check.blocking for check in found] == [False]


def test_tokens_of_what_has_no_parts(lab) -> None:
    error = lab.refused(CLEAN.format(check="rows(1)") + "b = tokenizer(clean)\nx = tokenize(clean, tokenizer=b)")
    assert error.code == "parts"


def test_a_row_type_that_arrow_has_no_type_for(lab) -> None:
    error = lab.refused(
        RAW + "@dataclass\nclass Bad:\n    value: complex\n@dataset\ndef clean(raw: Path) -> Iterator[Bad]: ..."
    )
    assert (error.code, error.found) == ("row_type", "complex")
    assert "value" in error.what


@pytest.mark.parametrize(
    "call",
    [
        "source()",
        "source(url='http://x.example/a')",
        "source(file='a', sha256='abc')",
        "source(archive='a.tar', sha256='0' * 64)",
        "source(package='x', file='y', digest='0' * 64)",
        "source(file='../a', sha256='0' * 64)",
        "source(package='x', file='/etc/passwd')",
    ],
)
def test_sources_that_are_not_pinned_or_not_clear(lab, call: str) -> None:
    error = lab.refused(f"raw = {call}")
    assert error.code == "source"
    assert "words.py" in str(error)


def test_shares_that_do_not_sum_to_one(lab) -> None:
    assert lab.refused(RAW + "parts = split(raw, by='a', train=0.9, val=0.9, test=0.1)").code == "shares"


def test_a_factory_given_something_else_than_a_stage(lab) -> None:
    error = lab.refused("parts = split([1], by='a')")
    assert (error.code, error.found) == ("unknown_input", "list")


def test_two_checkouts_in_one_process_do_not_mix(lab, tmp_path, monkeypatch) -> None:
    first = lab.load(RAW)
    other = type(lab)(tmp_path / "other")
    monkeypatch.setenv("AIFACTORY_PROJECT", str(other.root))
    other.write({"assets/public/different.py": "from aifactory.datasets import source\n" + RAW})
    from aifactory.datasets import find_stages

    assert list(find_stages()) == ["public/different/raw"]
    assert list(first) == ["public/words/raw"]


def test_an_error_can_be_pickled_for_another_process(lab) -> None:
    import pickle

    error = lab.refused(RAW + "again = raw\n")
    assert isinstance(pickle.loads(pickle.dumps(error)), FactoryError)
