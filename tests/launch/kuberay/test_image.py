"""Which OCI image the pods of a run are given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch.images.verifications import Verification, record
from aifactory.launch.kuberay.image import reference
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import ImageRef
from tests.launch.kuberay.cases import cluster

IMAGE = ImageRef(name="train", digest="1" * 64)
FIRST, SECOND = (f"registry.example/train@sha256:{digit * 64}" for digit in "89")


def test_all_attempts_run_what_the_first_one_ran_whatever_images_toml_moves_on_to(tmp_path: Path) -> None:
    ns, project = Namespace(tmp_path / "ns"), replace(Project.current(), root=tmp_path)

    def pinned(digest: str) -> None:
        (tmp_path / "images.toml").write_text(f'[train]\ndigest = "{digest}"\nreference = "{SECOND}"\n')

    def found(recorded: str | None = None) -> str:
        return reference(IMAGE, cluster(), ns=ns, project=project, recorded=recorded)

    for recorded in (None, "registry.example/train:latest"):
        with pytest.raises(FactoryError) as caught:
            found(recorded)
        assert caught.value.code == "image_not_pinned"
    pinned(IMAGE.digest)
    assert (found(), found(FIRST)) == (SECOND, FIRST)
    pinned("2" * 64)
    ns.class_root("public").mkdir(parents=True)
    record(ns, "public", "train", Verification(IMAGE.digest, f"sha256:{'7' * 64}", "smoke-1", "lab"))
    assert (found(), found(FIRST)) == (f"registry.example/train@sha256:{'7' * 64}", FIRST)
