from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

import pytest

from aifactory.data.archive import canonicalize
from aifactory.project import Project

MEDQUAD = "medquad-577bd37.tar.xz"


@pytest.fixture(scope="session")
def icd10cm_raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the package, as the stage `raw` keeps them."""
    directory = tmp_path_factory.mktemp("icd10cm")
    for file in metadata.files("simple-icd-10-cm") or []:
        if file.suffix in (".txt", ".xml") and file.parent.name == "data":
            (directory / "data").mkdir(exist_ok=True)
            (directory / "data" / file.name).symlink_to(str(file.locate()))
    return directory


@pytest.fixture(scope="session")
def medquad_raw(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """MedQuAD as one canonical archive, and its digest; skips where no mirror folder has it."""
    mirror = Path(os.environ.get("AIFACTORY_MIRROR") or Project.current().root.parent / "shared" / "data")
    if not (mirror / MEDQUAD).is_file():
        pytest.skip(f"the mirror folder has no {MEDQUAD}; name one that does in AIFACTORY_MIRROR")
    target = tmp_path_factory.mktemp("medquad") / "medquad.tar"
    return target, canonicalize(mirror / MEDQUAD, target, strip_top=True)
