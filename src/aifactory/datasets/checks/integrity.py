"""Whether the files are the bytes that the manifest names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from aifactory.namespace import Snapshot


def files() -> Check:
    """Size and sha256 of every file. On for every stage, and always blocking."""
    return Check("files", "files")


def run_files(snapshot: Snapshot) -> CheckResult:
    counts = {"files": len(snapshot.manifest.files), "bytes": snapshot.manifest.bytes}
    try:
        snapshot.verify()
    except FactoryError as error:
        if error.code != "integrity":
            raise
        return CheckResult(False, counts, str(error))
    return CheckResult(True, counts, f"{counts['files']} files, size and sha256 as in the manifest")
