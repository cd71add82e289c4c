"""A whole chain of stages, from a file beside the module to tokens and a suite."""

from __future__ import annotations

import json
from collections.abc import Callable

import pyarrow.parquet as pq

from aifactory.data.bpe import BPE
from aifactory.data.tokens import read_docs
from tests.build.lab import Lab

ASSETS = """
    from __future__ import annotations

    from collections.abc import Iterator
    from dataclasses import dataclass
    from pathlib import Path

    from aifactory.datasets import count, dataset, drop, rows, source, split, suite, tokenize, tokenizer, unique
    from aifactory.spec import BitsPerByte

    raw = source(file="words.txt")

    @dataclass(frozen=True)
    class Line:
        id: int
        group: str
        text: str
        note: str | None

    @dataset(checks=[rows(200), unique("id")], owners=["team:data"])
    def clean(raw: Path) -> Iterator[Line]:
        \"\"\"One row per line.\"\"\"
        for n, line in enumerate(raw.read_text().splitlines()):
            if not line:
                drop("blank")
                continue
            count("lines")
            yield Line(n, f"g{n % 40}", line, None)

    parts = split(clean, by="group", train=0.6, val=0.2, test=0.2)
    bpe = tokenizer(parts, vocabulary=300)
    ready = tokenize(parts, tokenizer=bpe)
    heldout = suite(parts, scorer=BitsPerByte(text="text"))
"""
WORDS = "\n".join(f"the disease number {n} has symptoms and a cause" for n in range(200)) + "\n\n\n"


def test_every_kind_of_stage_is_built_checked_and_published(lab: Lab, good: Callable) -> None:
    lab.write({"assets/public/lines.py": ASSETS, "assets/public/words.txt": WORDS})
    raw = good("public/lines/raw").built
    assert (raw.outcome, raw.files, raw.metadata["file_names"]) == ("published", 1, {"words.txt": len(WORDS)})

    clean = good("public/lines/clean")
    assert clean.built.rows == 200
    assert clean.built.metadata["dropped"] == {"blank": 2}
    assert clean.built.metadata["counts"] == {"lines": 200}
    assert clean.built.inputs == {"public/lines/raw": raw.version}
    assert [column["name"] for column in clean.built.columns] == ["id", "group", "text", "note"]
    assert clean.built.metadata["preview"][0]["text"].startswith("the disease number 0")
    assert clean.built.metadata["lengths"]["unit"] == "characters of text"
    assert sum(clean.built.metadata["lengths"]["buckets"].values()) == 200
    assert set(clean.audits) == {"files", "not_empty", "schema", "rows", "unique_id"}
    assert all(audit.passed for audit in clean.audits.values())

    parts = good("public/lines/parts")
    assert sum(parts.built.metadata["parts"].values()) == 200
    assert parts.audits["disjoint_group"].passed
    groups = {
        part: {
            value
            for path in lab.current("public/lines/parts").paths(part)
            for value in pq.read_table(path)["group"].to_pylist()
        }
        for part in ("train", "val", "test")
    }
    assert not groups["train"] & groups["val"]
    assert not groups["train"] & groups["test"]

    bpe = good("public/lines/bpe")
    tokenizer = BPE.load(lab.current("public/lines/bpe").path)
    assert tokenizer.vocabulary == bpe.built.metadata["vocabulary"] <= 300

    ready = good("public/lines/ready")
    assert ready.audits["token_range"].counts["out_of_range"] == 0
    assert ready.audits["token_range"].counts["vocabulary"] == tokenizer.vocabulary
    assert ready.built.rows == 200
    snapshot = lab.current("public/lines/ready")
    docs = read_docs(snapshot.path / "val")
    assert docs.num_rows == parts.built.metadata["parts"]["val"]
    assert set(docs["group"].to_pylist()) == groups["val"]

    heldout = good("public/lines/heldout")
    suite = lab.current("public/lines/heldout")
    assert suite.manifest.parts == ("test",)
    assert heldout.built.rows == parts.built.metadata["parts"]["test"]
    assert json.loads((suite.path / "scorer.json").read_text())["kind"] == "bits_per_byte"


def test_a_split_without_changes_is_the_same_version_on_another_machine(lab: Lab, good: Callable, tmp_path) -> None:
    lab.write({"assets/public/lines.py": ASSETS, "assets/public/words.txt": WORDS})
    for name in ("raw", "clean", "parts", "bpe", "ready", "heldout"):
        good(f"public/lines/{name}")
    before = {key: lab.current(key).version for key in sorted(lab.ns.keys())}
    lab.ns = type(lab.ns)(tmp_path / "elsewhere")
    for name in ("raw", "clean", "parts", "bpe", "ready", "heldout"):
        good(f"public/lines/{name}")
    assert {key: lab.current(key).version for key in sorted(lab.ns.keys())} == before
