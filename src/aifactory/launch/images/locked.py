"""What the lock of an image pins."""

from __future__ import annotations

from aifactory.launch.images.copies import images_directory
from aifactory.project import Project
from aifactory.spec import ImageRef, image_inputs
from aifactory.spec.changes import packages


def locked(project: Project, image: ImageRef, package: str) -> str:
    """The version that the lock of an available image pins; empty where it doesn't have the package. Read from the
    image's copy, or from the checkout that makes it."""
    lock = f"locks/{image.name}.lock"
    copy = images_directory(project) / image.digest / lock
    file = copy if copy.is_file() else image_inputs(project, image.name)[lock]
    return packages(file.read_text()).get(package, "")
