"""ImageRef: code and dependencies of a run, by the digest of what the image is built from."""

from __future__ import annotations

from aifactory.spec.config import Config, Hex64
from aifactory.spec.images import ImageName


class ImageRef(Config):
    """An image by name and by the digest of its build inputs (`images.image_digest`), never by a tag."""

    name: ImageName
    digest: Hex64
