"""What the README tells a newcomer to write works as it stands there."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.conftest import Lab
from tests.orchestrate.lab import CHECKOUT

README = (CHECKOUT / "README.md").read_text()


def test_the_datasets_file_of_the_readme_builds_stage_by_stage(lab: Lab):
    (name,) = re.findall(r"`(assets/public/[a-z_]+\.py)`", README)
    (source,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    lab.write(name, source)
    dataset = name.removeprefix("assets/").removesuffix(".py")
    for stage in ("raw", "clean", "parts", "questions"):
        answer = lab("launch", f"{dataset}/{stage}")
        assert answer.code == 0, answer.err
        assert f"{dataset}/{stage}@" in answer.err
    assert "FAILED" not in answer.err
    table = pa.concat_tables(
        pq.read_table(path) for path in Path(lab("path", f"{dataset}/clean").out.strip()).glob("*.parquet")
    )
    assert table.num_rows > 40_000
    for column in table.column_names:
        assert all(table[column].to_pylist()), f"{column} has empty values"


def test_the_readme_fits_one_screen_and_its_links_lead_somewhere():
    assert README.count("\n") <= 66
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (CHECKOUT / target).exists(), target


def test_every_link_of_the_docs_leads_somewhere():
    for page in (CHECKOUT / "docs").glob("*.md"):
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
