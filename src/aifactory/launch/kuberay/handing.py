"""Handing a run's directory to the user that its pods run as."""

from __future__ import annotations

import os
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.pods import USER


def hand_over(directory: Path, attempt_directory: Path) -> None:
    """Let the pods' user write in both: the run's, for checkpoints, and the attempt's. Groups stay, by which the class
    reads. Raises FactoryError, code "handing_over", for a launcher that may not give files away."""
    for path in (directory, attempt_directory):
        if path.stat().st_uid == USER:
            continue
        try:
            os.chown(path, USER, -1)
        except PermissionError as error:
            raise FactoryError(
                f"{path} can't be handed to the user of the pods",
                found=f"it belongs to {path.stat().st_uid}, and this is user {os.geteuid()}",
                expected=f"user {USER}, which the image runs as",
                fix=f"launch as user {USER} (the control plane's image does) or as root",
                code="handing_over",
            ) from error
