"""Stages get their keys from file and variable, and their inputs from parameters."""

from __future__ import annotations

import pyarrow as pa

from aifactory.datasets import dataset, split
from aifactory.spec import Mix


def test_a_key_is_the_path_of_the_file_and_the_name_of_the_variable(lab) -> None:
    lab.write(
        {
            "assets/private/onco/notes.py": """
                from aifactory.datasets import source
                raw = source(url='http://x.example/a', sha256='0' * 64)
            """
        }
    )
    stages = lab.load("raw = source(url='http://x.example/a', sha256='0' * 64)")
    assert list(stages) == ["private/onco/notes/raw", "public/words/raw"]
    assert stages["private/onco/notes/raw"].key.access == "private/onco"


def test_a_stage_is_callable_in_a_test(lab) -> None:
    stages = lab.load(
        """
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset
        def clean(raw: Path) -> Iterator[Row]:
            yield Row(1, "a", str(raw))
        """
    )
    assert [row.text for row in stages["public/words/clean"]("here")] == ["here"]


def test_a_parameter_names_a_sibling_and_inputs_name_the_rest(lab) -> None:
    lab.write(
        {
            "assets/public/codes.py": """
                import pyarrow as pa
                from aifactory.datasets import source, dataset
                raw = source(url='http://x.example/a', sha256='0' * 64)
                @dataset
                def clean(raw: str) -> pa.Table: ...
            """
        }
    )
    stages = lab.load(
        """
        from assets.public import codes
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset(inputs={"codes": codes.clean, "again": "public/codes/raw"})
        def linked(raw: Path, codes: Iterator[dict], again: Path, least: int = 3) -> Iterator[Row]:
            yield Row(1, "a", "b")
        parts = split(linked, by="group")
        @dataset(inputs={"train": parts.part("train")})
        def shown(train: Iterator[Row]) -> Iterator[Row]:
            yield from train
        """
    )
    edges = {edge.role: (edge.key, edge.part, edge.kind) for edge in stages["public/words/linked"].edges}
    assert edges == {
        "raw": ("public/words/raw", None, "dataset"),
        "codes": ("public/codes/clean", None, "dataset"),
        "again": ("public/codes/raw", None, "dataset"),
    }
    assert [(e.key, e.part) for e in stages["public/words/shown"].edges] == [("public/words/parts", "train")]


def test_factories_read_the_part_that_is_meant_for_them(lab) -> None:
    stages = lab.load(
        """
        raw = source(url='http://x.example/a', sha256='0' * 64)
        @dataset
        def clean(raw: Path) -> Iterator[Row]: ...
        parts = split(clean, by="group")
        bpe = tokenizer(parts)
        ready = tokenize(parts, tokenizer=bpe)
        heldout = suite(parts, scorer=BitsPerByte())
        whole = suite(clean, scorer=BitsPerByte())
        """
    )
    parts = {name.rpartition("/")[2]: [(e.key, e.part, e.kind) for e in stage.edges] for name, stage in stages.items()}
    assert parts["bpe"] == [("public/words/parts", "train", "dataset")]
    assert parts["ready"] == [("public/words/parts", None, "dataset"), ("public/words/bpe", None, "tokenizer")]
    assert parts["heldout"] == [("public/words/parts", "test", "dataset")]
    assert parts["whole"] == [("public/words/clean", None, "dataset")]
    assert stages["public/words/ready"].parameters["group"] == "group"
    assert [stage.kind for stage in stages.values()] == [
        "tokenizer",
        "table",
        "suite",
        "table",
        "files",
        "tokens",
        "suite",
    ]


def test_a_stage_made_by_a_helper_belongs_to_the_file_that_calls_it(lab) -> None:
    lab.write(
        {
            "assets/_shared.py": """
                from aifactory.datasets import source, dataset
                def raw_of(name):
                    return source(url=f"http://x.example/{name}", sha256="0" * 64)
                def first(count):
                    @dataset
                    def made(raw) -> None:
                        return count
                    return made
            """
        }
    )
    stages = lab.load("from assets._shared import raw_of, first\nraw = raw_of('a')\nfive = first(5)\nsix = first(6)")
    assert list(stages) == ["public/words/five", "public/words/raw", "public/words/six"]
    assert stages["public/words/five"].code_version != stages["public/words/six"].code_version


def test_a_recipe_may_ask_for_a_key_before_all_assets_are_found(lab) -> None:
    lab.load("raw = source(url='http://x.example/a', sha256='0' * 64)\nready = split(raw, by='a')")
    from assets.public import words  # type: ignore[import-not-found]

    words.ready.bound_name = None
    assert Mix.of({words.ready: 1.0}).keys == ("public/words/ready",)


def test_a_benchmark_is_inherited(lab) -> None:
    stages = lab.load(
        """
        raw = source(url='http://x.example/a', sha256='0' * 64, benchmark=True)
        @dataset
        def clean(raw: Path) -> Iterator[Row]: ...
        parts = split(clean, by="group")
        """
    )
    assert stages["public/words/parts"].benchmark


def test_a_split_can_be_called_on_a_table() -> None:
    @dataset
    def clean(raw: pa.Table) -> pa.Table:
        return raw

    table = pa.table({"group": [f"g{n}" for n in range(100)]})
    parts = split(clean, by="group", train=0.5, val=0.25, test=0.25)(clean(table))
    assert sorted(parts) == ["test", "train", "val"]
    assert sum(part.num_rows for part in parts.values()) == 100
    assert clean.key is None


def test_owners_are_inherited_in_a_file_and_a_factory_says_what_it_makes(lab) -> None:
    found = lab.load(
        """
        raw = source(url='http://x.example/a', sha256='0' * 64, owners=["team:data"])
        @dataset(owners=["ada@lab.example"])
        def other(raw: Path) -> Iterator[Row]: ...
        @dataset
        def clean(raw: Path) -> Iterator[Row]:
            '''What it is.'''
        parts = split(clean, by="group")
        """,
    )
    assert {key.rpartition("/")[2]: stage.owners for key, stage in found.items()} == {
        "raw": ("team:data",),
        "other": ("ada@lab.example",),
        "clean": ("team:data",),
        "parts": ("team:data",),
    }
    assert found["public/words/clean"].description == "What it is."
    assert found["public/words/raw"].description == "Raw files, kept as they are: http://x.example/a."
    assert found["public/words/parts"].description == (
        "public/words/clean in parts (train 0.9, val 0.05, test 0.05); rows of one `group` stay together."
    )
