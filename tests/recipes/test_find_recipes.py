"""Recipes: found by folder, each error naming the recipe and its file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.project import Project
from aifactory.spec import GPT, Mix, Train, find_recipes, get_recipe, recipe

HEAD = """
from aifactory.spec import GPT, Mix, Train, recipe

def config(key="public/icd10cm/ready"):
    return Train(model=GPT(layers=1, hidden=8, heads=1, context=8), mix=Mix.of({key: 1.0}), steps=4)
"""
GOOD = """
@recipe(line="public/models/one", suites=["public/icd10cm/heldout", "public/icd10cm/chapters"])
def one() -> Train:
    "The first."
    return config()

@recipe(line="public/models/one", baseline=one)
def two() -> Train:
    return one().evolve({"seed": 2})
"""
OWN = ("assets", "checks", "recipes")
Make = Callable[..., Project]


@pytest.fixture(autouse=True)
def own_imports() -> Iterator[None]:
    """Each test leaves the interpreter's modules and path as it found them."""
    path, modules = list(sys.path), {name: one for name, one in sys.modules.items() if name.split(".")[0] in OWN}
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name.split(".")[0] in OWN]:
        del sys.modules[name]
    sys.modules.update(modules)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def project(name: str = "project", /, **files: str) -> Project:
        root = tmp_path / name
        (root / "recipes").mkdir(parents=True)
        for file, text in files.items():
            (root / "recipes" / f"{file}.py").write_text(HEAD + text)
        return replace(Project.current(), root=root)

    return project


def refused(project: Project, code: str, *words: str) -> None:
    with pytest.raises(FactoryError) as caught:
        find_recipes(project)
    assert caught.value.code == code, caught.value
    for word in words:
        assert word in str(caught.value)


def test_recipes_of_all_files_are_found_by_name(make: Make) -> None:
    project = make(a=GOOD, b=GOOD.replace("one()", "uno()").replace("two()", "due()").replace("=one)", "=uno)"))
    found = find_recipes(project)
    assert list(found) == ["due", "one", "two", "uno"]
    one = found["one"]
    assert (one.name, one.module, one.line, one.description) == ("one", "recipes.a", "public/models/one", "The first.")
    assert one.suites == ("public/icd10cm/chapters", "public/icd10cm/heldout")
    assert (one.baseline, found["two"].baseline) == (None, "one")
    assert found["two"].build().seed == 2


def test_overrides_apply_in_either_form(make: Make) -> None:
    one = get_recipe("one", make(a=GOOD))
    assert one.build(["model.hidden=16"]) == one.build({"model.hidden": 16})
    assert one().model.hidden == 8
    with pytest.raises(FactoryError) as caught:
        one.build(["model.hiden=16"])
    assert caught.value.code == "unknown_override"


def test_a_recipe_that_another_file_imports_is_counted_once(make: Make) -> None:
    more = """
from recipes.a import one
again = one

@recipe(line="public/models/one", baseline="one")
def three() -> Train:
    return one().evolve({"seed": 3})
"""
    assert list(find_recipes(make(a=GOOD, b=more))) == ["one", "three", "two"]


def test_a_project_without_recipes_has_none(tmp_path: Path) -> None:
    assert find_recipes(replace(Project.current(), root=tmp_path)) == {}


def test_an_unknown_name_lists_close_matches(make: Make) -> None:
    project = make(a=GOOD)
    with pytest.raises(FactoryError) as caught:
        get_recipe("tow", project)
    assert caught.value.code == "unknown_recipe"
    assert "perhaps two" in str(caught.value)
    with pytest.raises(FactoryError, match="one of one, two"):
        get_recipe("xyzzy", project)


def test_two_recipes_of_one_name_are_refused_across_files_and_within_one(make: Make) -> None:
    refused(make(a=GOOD, b=GOOD), "recipe", "recipes.a and recipes.b", "called one")
    twice = GOOD + '\n@recipe(line="public/models/one")\ndef one() -> Train:\n    return config()\n'
    refused(make("second", a=twice), "recipe", "called one", "a.py lines")


@pytest.mark.parametrize("value", ["None", "config", "{}", "config().model"])
def test_what_returns_no_train_is_refused(make: Make, value: str) -> None:
    text = f'@recipe(line="public/models/a")\ndef bad():\n    return {value}\n'
    refused(make(a=text), "recipe", "recipe bad (recipes.a)", "expected: Train")


@pytest.mark.parametrize(
    "line", ["public/tiny", "public/models", "models/tiny", "public/models/Tiny", "", "../x", "public/models/a/b"]
)
def test_a_line_that_is_no_model_key_is_refused(make: Make, line: str) -> None:
    text = f"@recipe(line={line!r})\ndef bad() -> Train:\n    return config()\n"
    refused(make(a=text), "recipe", "recipe bad (recipes.a)", repr(line).strip("'"), "public/models/tiny")


def test_a_line_of_a_lower_class_than_its_suites_or_its_mix_is_refused_with_the_edge(make: Make) -> None:
    suite = (
        '@recipe(line="public/models/a", suites=["private/clinic/notes/heldout"])\ndef bad():\n    return config()\n'
    )
    refused(make(a=suite), "class", "recipe bad", "private/clinic/notes/heldout", "public/models/a", "private/clinic")
    mix = '@recipe(line="public/models/a")\ndef bad():\n    return config("private/clinic/notes/ready")\n'
    refused(make("second", a=mix), "class", "private/clinic/notes/ready", "public/models/a")
    other = '@recipe(line="private/lab/models/a")\ndef bad():\n    return config("private/clinic/notes/ready")\n'
    refused(make("third", a=other), "class", "private/clinic/notes/ready", "private/lab/models/a")
    higher = '@recipe(line="private/clinic/models/a")\ndef fine():\n    return config()\n'
    assert list(find_recipes(make("fourth", a=higher))) == ["fine"]


def test_a_baseline_that_is_none_is_refused(make: Make) -> None:
    text = '@recipe(line="public/models/a", baseline={})\ndef bad():\n    return config()\n'
    refused(make(a=text.format("'on'") + GOOD), "unknown_recipe", "recipe bad (recipes.a)", "'on'", "perhaps one")
    refused(make("second", a=text.format("3")), "recipe", "its baseline is no recipe", "3")


def test_an_error_in_a_recipe_or_its_file_names_both(make: Make) -> None:
    refused(make(a='@recipe(line="public/models/a")\ndef bad():\n    return 1 / 0\n'), "recipe", "bad", "division")
    refused(make("second", a="import nothing_like_this\n"), "import", "recipes/a.py", "nothing_like_this")
    refused(make("third", a="def broken(:\n"), "import", "recipes/a.py:6", "SyntaxError")
    below = make("below", a="from recipes.b import two\n", b="two = 1\nnot_there\n")
    refused(below, "import", "recipes/a.py can't be imported", "mend recipes/b.py:7")
    wrong = '@recipe(line="public/models/a")\ndef bad():\n    return config().evolve({"seeds": 1})\n'
    refused(make("fourth", a=wrong), "unknown_override", "seeds", "recipe bad (recipes.a)")


def test_a_second_checkout_in_one_process_sees_its_own_files(make: Make) -> None:
    first, second = make(a=GOOD), make("second", a=GOOD.replace('"seed": 2', '"seed": 9'))
    assert find_recipes(first)["two"].build().seed == 2
    assert find_recipes(second)["two"].build().seed == 9
    assert find_recipes(first)["two"].build().seed == 2


def test_a_package_of_that_name_elsewhere_is_no_part_of_the_project(make: Make, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "recipes"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    (other / "a.py").write_text("raise RuntimeError('the wrong file')")
    sys.path.insert(0, str(other.parent))
    assert "one" in find_recipes(make(a=GOOD))


class Stage:
    """A stage whose key is known only after its module was imported."""

    key: str | None = None


def test_keys_of_suites_are_asked_for_late() -> None:
    stage = Stage()

    @recipe(line="public/models/a", suites=[stage])
    def late() -> Train:
        return Train(model=GPT(layers=1, hidden=8, heads=1, context=8), mix=Mix.of({"public/a/ready": 1.0}), steps=1)

    with pytest.raises(FactoryError) as caught:
        _ = late.suites
    assert caught.value.code == "unbound"
    assert "suites of recipe late" in str(caught.value)
    stage.key = "public/a/heldout"
    assert late.suites == ("public/a/heldout",)
    late.validate()
