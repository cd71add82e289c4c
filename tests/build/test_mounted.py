"""What the mount plan names is enough: a build in a tree that holds nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from aifactory.channel.reader import Reader
from aifactory.launch import mounts
from aifactory.namespace import Namespace, Publications
from tests.build.lab import Lab, rows_stage

RAW, KEY = "public/words/raw", "public/words/clean"
GOOD = "for n, line in enumerate(raw.read_text().split()):\n    yield Row(n, line)"


def mounted(lab: Lab, site: Path, *, without: str = "") -> tuple[str, Path]:
    """Run the build of KEY at a site whose tree has the planned directories only; its outcome and its attempt."""
    attempt = lab.recorded(KEY)
    for one in mounts(lab.spec(lab.stages()[KEY]), attempt.parents[1].name, "public"):
        if without and one.path.startswith(without):
            continue
        if one.source(lab.ns.root).is_dir():
            shutil.copytree(one.source(lab.ns.root), one.source(site), symlinks=True, dirs_exist_ok=True)
        else:
            one.source(site).mkdir(parents=True, exist_ok=True)
    there = site / attempt.relative_to(lab.ns.root)
    command = [sys.executable, "-m", "aifactory.run", "--run", str(there.parents[1]), "--attempt", "1"]
    subprocess.run(command, cwd=there, env={**os.environ, "AIFACTORY_ROOT": str(site)}, check=False, timeout=120)
    reader = Reader(there)
    reader.new()
    assert reader.closed is not None
    return reader.closed.outcome, there


def test_a_build_needs_nothing_but_its_mounts(lab: Lab, good: Callable, tmp_path: Path) -> None:
    lab.write(rows_stage(GOOD))
    raw = good(RAW).built.version
    site = tmp_path / "site"
    outcome, _ = mounted(lab, site)
    assert outcome == "succeeded"
    (publication,) = Publications(Namespace(site), KEY).all()
    assert publication.inputs == {RAW: raw}
    assert not (site / RAW / "@journal").exists()


def test_what_is_not_mounted_is_missing_and_named(lab: Lab, good: Callable, tmp_path: Path) -> None:
    lab.write(rows_stage(GOOD))
    good(RAW)
    outcome, attempt = mounted(lab, tmp_path / "site", without=RAW)
    assert outcome == "failed_code"
    error = Reader(attempt).new()[-1].payload.error
    assert RAW in error.text
    assert "missing" in error.text
