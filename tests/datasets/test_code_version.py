"""The digest of a stage's code moves with what decides its rows, and with nothing else."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.datasets.tree import tree_digest

HELPERS = """
import re
from assets._deep import deep
LIMIT = 3
TABLE = {"a": 1}
TABLE["b"] = 2
def used(text):
    '''Says what it does.'''
    return deep(text)[:LIMIT]
def unused(text):
    return text
"""
DEEP = """
def deep(text):
    return text.strip()
def other(text):
    return text
"""
WORDS = """
from assets._helpers import used, unused, TABLE
import assets._deep as whole
raw = source(url='http://x.example/a', sha256='0' * 64)
MOST = 5
@dataclass
class Out:
    name: str
# a comment
@dataset(checks=[rows(3)], owners=["team:a"])
def clean(raw: Path) -> Iterator[Out]:
    \"\"\"Says what it does.\"\"\"
    for line in raw.read_text().splitlines()[:MOST]:
        yield Out(used(line))
@dataset
def table(raw: Path) -> Iterator[Out]:
    yield Out(str(TABLE))
@dataset
def through(raw: Path) -> Iterator[Out]:
    yield Out(whole.deep(""))
"""


class Versions:
    """`of(name=text replaced)` gives the code version of a stage after edits."""

    def __init__(self, lab):
        self.lab = lab

    def of(self, stage: str = "clean", *, words=("", ""), helpers=("", ""), deep=("", "")) -> str:
        texts = []
        for text, (old, new) in ((WORDS, words), (HELPERS, helpers), (DEEP, deep)):
            assert old in text
            texts.append(text.replace(old, new) if old else text)
        self.lab.write({"assets/_helpers.py": texts[1], "assets/_deep.py": texts[2]})
        return str(self.lab.load(texts[0])[f"public/words/{stage}"].code_version)


@pytest.fixture
def versions(lab) -> Versions:
    return Versions(lab)


@pytest.mark.parametrize(
    "edit",
    [
        {"words": ("# a comment", "# another\n\n")},
        {"words": ("Says what it does.", "Says something else.")},
        {"words": ("[rows(3)]", "[rows(4)]")},
        {"words": ("team:a", "team:b")},
        {"words": ("for line in", "for line  in")},
        {"helpers": ("Says what it does.", "Says something else.")},
        {"helpers": ("def unused(text):\n    return text", "def unused(text):\n    return 1")},
        {"deep": ("def other(text):\n    return text", "def other(text):\n    return 1")},
    ],
    ids=str,
)
def test_what_changes_no_row_keeps_the_version(versions: Versions, edit) -> None:
    assert versions.of(**edit) == versions.of()


@pytest.mark.parametrize(
    "edit",
    [
        {"words": ("[:MOST]", "[1:MOST]")},
        {"words": ("MOST = 5", "MOST = 6")},
        {"words": ("name: str", "name: str | None")},
        {"helpers": ("LIMIT = 3", "LIMIT = 4")},
        {"helpers": ("deep(text)[:LIMIT]", "deep(text)[LIMIT:]")},
        {"helpers": ("from assets._deep import deep", "from assets._deep import other as deep")},
        {"deep": ("text.strip()", "text.lstrip()")},
    ],
    ids=str,
)
def test_what_changes_rows_moves_the_version(versions: Versions, edit) -> None:
    assert versions.of(**edit) != versions.of()


def test_a_statement_that_changes_a_constant_counts(versions: Versions) -> None:
    edit = ('TABLE["b"] = 2', 'TABLE["b"] = 3')
    assert versions.of("table", helpers=edit) != versions.of("table")
    assert versions.of("clean", helpers=edit) == versions.of("clean")


def test_an_attribute_of_a_module_counts_and_its_others_do_not(versions: Versions) -> None:
    assert versions.of("through", deep=("text.strip()", "text.lstrip()")) != versions.of("through")
    assert versions.of("through", deep=("    return text\n", "    return 2\n")) == versions.of("through")


def test_a_sibling_that_is_only_read_does_not_count(versions: Versions) -> None:
    assert versions.of(words=("http://x.example/a", "http://x.example/b")) == versions.of()


@pytest.mark.parametrize(
    "edit",
    [("train=0.8", "train=0.9"), ("codes': raw", "codes': 'public/words/other'"), ("'train'", "'test'")],
    ids=["parameter", "input", "part"],
)
def test_parameters_and_what_is_read_count(lab, edit: tuple[str, str]) -> None:
    text = """
        raw = source(url='http://x.example/a', sha256='0' * 64)
        other = source(url='http://x.example/a', sha256='0' * 64)
        @dataset(inputs={'codes': raw})
        def clean(codes: Path) -> Iterator[Row]: ...
        parts = split(clean, by='group', train=0.8, val=0.1, test=0.1)
        @dataset(inputs={'rows': parts.part('train')})
        def after(rows: Iterator[Row]) -> Iterator[Row]: ...
    """
    before = {key: stage.code_version for key, stage in lab.load(text).items()}
    changed = text.replace(*edit).replace("train=0.9, val=0.1", "train=0.9, val=0.0")
    after = {key: stage.code_version for key, stage in lab.load(changed).items()}
    moved = {key.rpartition("/")[2] for key in before if before[key] != after[key]}
    assert moved == {"train=0.8": {"parts"}, "codes': raw": {"clean"}, "'train'": {"after"}}[edit[0]]


def test_an_input_by_key_gives_the_same_version_in_an_image_that_imports_one_file(lab) -> None:
    import sys

    from aifactory.datasets.binding import bind_scope

    lab.write(
        {
            "assets/public/more.py": """
        from aifactory.datasets import suite, tokenizer
        from aifactory.spec import BitsPerByte
        heldout = suite('public/words/parts', scorer=BitsPerByte())
    """
        }
    )
    linked = lab.load(
        """
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset
        def clean(raw: Path) -> Iterator[Row]: ...
        parts = split(clean, by='group')
        """
    )["public/more/heldout"]
    assert linked.edges[0].part == "test"
    for name in [name for name in sys.modules if name.partition(".")[0] == "assets"]:
        del sys.modules[name]
    import assets.public.more as alone  # type: ignore[import-not-found]

    assert bind_scope(vars(alone))["heldout"].code_version == linked.code_version


def test_a_schema_given_apart_counts(lab) -> None:
    text = "raw = source(url='http://x.example/a', sha256='0' * 64)\nimport pyarrow as pa\n" + (
        "@dataset(schema=pa.schema([('a', pa.{kind}())]))\ndef clean(raw: Path) -> pa.Table: ..."
    )
    found = {lab.load(text.replace("{kind}", kind))["public/words/clean"].code_version for kind in ("int64", "string")}
    assert len(found) == 2


def test_transforms_of_the_factory_count_by_their_version(lab, monkeypatch) -> None:
    from aifactory.datasets import versions as hand_set

    text = """
        from aifactory.data.normalize import normalize
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset
        def clean(raw: Path) -> Iterator[Row]:
            yield Row(1, "a", normalize("b"))
    """
    before = lab.load(text)["public/words/clean"].code_version
    monkeypatch.setitem(hand_set.TRANSFORMS, "aifactory.data.normalize", 99)
    assert lab.load(text)["public/words/clean"].code_version != before


def test_imports_inside_a_function_count(lab) -> None:
    text = """
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset
        def clean(raw: Path) -> Iterator[Row]:
            from assets._deep import deep
            yield Row(1, "a", deep("b"))
    """
    lab.write({"assets/_deep.py": DEEP})
    before = lab.load(text)["public/words/clean"].code_version
    lab.write({"assets/_deep.py": DEEP.replace("strip", "lstrip")})
    assert lab.load(text)["public/words/clean"].code_version != before


def test_star_imports_and_relative_imports_count(lab) -> None:
    text = """
        from assets._star import *
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset
        def clean(raw: Path) -> Iterator[Row]:
            yield Row(1, "a", deep("b"))
    """
    lab.write({"assets/_star.py": "from ._deep import *", "assets/_deep.py": DEEP})
    before = lab.load(text)["public/words/clean"].code_version
    lab.write({"assets/_deep.py": DEEP.replace("strip", "lstrip")})
    assert lab.load(text)["public/words/clean"].code_version != before


def test_modules_that_import_each_other_end(lab) -> None:
    lab.write({"assets/_one.py": "from assets._two import *\ndef one():\n    return two()\n"})
    lab.write({"assets/_two.py": "from assets._one import *\ndef two():\n    return len([])\n"})
    stages = lab.load(
        """
        from assets._one import *
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset
        def clean(raw: Path) -> Iterator[Row]:
            yield Row(one(), "a", "b")
        """
    )
    assert stages["public/words/clean"].code_version


def test_a_version_from_disk_is_the_version_from_source(lab, versions: Versions) -> None:
    from aifactory.datasets import syntax

    fresh = versions.of()
    assert list((lab.root / ".aifactory/cache").glob("sources-*.json"))
    syntax._seen.clear()
    syntax.by_content.clear()
    assert versions.of() == fresh
    (cache,) = (lab.root / ".aifactory/cache").glob("sources-*.json")
    cache.write_text("{torn")
    syntax._seen.clear()
    syntax.by_content.clear()
    assert versions.of() == fresh


def test_a_version_set_by_hand_warns_when_the_code_moved(lab) -> None:
    from aifactory.datasets.drift import remember
    from aifactory.namespace import Namespace

    text = """
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset(code_version="7")
        def clean(raw: Path) -> Iterator[Row]:
            yield Row(1, "a", "b")
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stage = lab.load(text)["public/words/clean"]
        assert stage.code_version == "7"
        remember(Namespace.open(), stage)
        lab.load(text)
    with pytest.warns(UserWarning, match="public/words/clean: the code moved"):
        assert lab.load(text.replace('"b"', '"c"'))["public/words/clean"].code_version == "7"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lab.load(text.replace('"b"', '"c"').replace('"7"', '"8"'))


names = st.sampled_from(["a", "b", "c"])
expressions = st.recursive(
    names | st.integers(0, 9).map(str) | st.text("xy\n'\"", max_size=3).map(repr),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "and", "or", "=="]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        inner.map(lambda x: f"[{x}]"),
        inner.map(lambda x: f"f({x})"),
        st.tuples(names, inner).map(lambda t: f"(lambda {t[0]}: {t[1]})"),
        inner.map(lambda x: f"(yield {x})"),
    ),
    max_leaves=6,
)


@given(expressions, expressions)
def test_two_trees_have_one_digest_only_if_they_are_equal(one: str, other: str) -> None:
    import ast

    first, second = f"def f():\n    return {one}", f"def f():\n    return {other}"
    same = ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))
    assert (tree_digest(first) == tree_digest(second)) is same
