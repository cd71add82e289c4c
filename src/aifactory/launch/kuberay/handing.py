"""Handing what a run writes in to the user that its pods run as."""

from __future__ import annotations

import os
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.pods import USER


def hand_over(*directories: Path) -> None:
    """Let the pods' user write in each of them, such as the run's, for checkpoints, and the attempt's. Groups stay, by
    which the class reads. Raises FactoryError, code "handing_over", for a launcher that may not give files away."""
    for path in directories:
        if path.stat().st_uid == USER:
            continue
        try:
            os.chown(path, USER, -1)
        except PermissionError as error:
            raise FactoryError(
                f"{path} can't be handed to the user of the pods",
                found=f"it belongs to {path.stat().st_uid}, and this is user {os.geteuid()}",
                expected=f"user {USER}, which the image runs as",
                fix=f"launch as user {USER}, or as root",
                code="handing_over",
            ) from error


def built_in(key: Path) -> list[Path]:
    """The directories that a build of this key writes in: the key's own, which is made here, its journal, and its
    audits. A published snapshot is nobody's to write."""
    key.mkdir(parents=True, exist_ok=True)
    audits = key / "@audits"
    return [key, *(path for path in (key / "@journal", audits, *audits.glob("*")) if path.is_dir())]
