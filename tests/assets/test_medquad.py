from __future__ import annotations

import io
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from aifactory.datasets.report import reporting
from aifactory.errors import FactoryError
from assets.public import medquad

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<Document id="7" source="GHR"><Focus>X</Focus><QAPairs>
<QAPair pid="1"><Question qtype="treatment">What  helps ?</Question><Answer>%s</Answer></QAPair>
<QAPair pid="2"><Question qtype="outlook">And then ?</Question><Answer> </Answer></QAPair>
<QAPair pid="3"><Question qtype="outlook"/><Answer>Unasked.</Answer></QAPair>
</QAPairs></Document>"""


def archive(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w") as file:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content.encode())
            file.addfile(info, io.BytesIO(content.encode()))
    return path


def test_everything_parsed_is_kept_or_counted(medquad_raw: tuple[Path, str]) -> None:
    path, digest = medquad_raw
    assert digest == medquad.raw.parameters["digest"]
    with reporting() as report:
        pairs = list(medquad.clean(path))
    assert len(pairs) == len({pair.pair for pair in pairs}) == 16_407
    assert report.dropped == {"empty answer": 31_034, "pair in the markup of an early draft": 16}
    assert len({pair.doc for pair in pairs}) == 5_476
    assert Counter(pair.source for pair in pairs)["GHR"] == 5_430
    assert all(pair.text.endswith(f"\nanswer: {pair.answer}") for pair in pairs)


def test_pairs_are_cleaned_and_what_is_left_out_has_a_reason(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.tar", {"3_GHR/0000007.xml": DOCUMENT % "Rest.\n\n   And  <!-- no --> water.", "readme": ""}
    )
    with reporting() as report:
        [pair] = medquad.clean(path)
    assert pair == medquad.Pair(
        pair="3_GHR/0000007-1",
        doc="GHR/7",
        source="GHR",
        focus="X",
        qtype="treatment",
        question="What helps ?",
        answer="Rest.\nAnd water.",
        text="What helps ?\nanswer: Rest.\nAnd water.",
    )
    assert report.dropped == {"empty answer": 1, "empty question": 1, "pair in the markup of an early draft": 0}


def test_malformed_xml_names_its_member(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar", {"a.xml": DOCUMENT % "Fine.", "6_NINDS/0000001.xml": "<Document><QAPairs>"})
    with pytest.raises(FactoryError, match=r"6_NINDS/0000001\.xml: malformed XML") as error:
        list(medquad.clean(path))
    assert error.value.code == "malformed"


def test_a_truncated_archive_is_an_error_and_not_fewer_rows(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar", {f"{n}.xml": DOCUMENT % "Fine." for n in range(4)})
    path.write_bytes(path.read_bytes()[:2048])
    with pytest.raises(FactoryError, match="truncated or damaged"):
        list(medquad.clean(path))
