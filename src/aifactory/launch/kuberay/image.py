"""The OCI image that stands for the image of a spec."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.images.pinned import load_pinned
from aifactory.launch.images.verifications import verifications
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import ImageRef

OCI = re.compile(r"(?P<repository>[^@]+)@(?P<digest>sha256:[0-9a-f]{64})")


def reference(
    image: ImageRef,
    cluster: KubeCluster,
    *,
    ns: Namespace,
    project: Project,
    access: Iterable[str] = ("public",),
    recorded: str | None = None,
) -> str:
    """`<repository>@sha256:<64 digits>`: what the run's context `recorded`, so that all of its attempts run one image;
    else what images.toml pins for it, or, where that has moved on since, what the journals of `access` say that
    verified it. Raises FactoryError, code "image_not_pinned"."""
    if recorded is not None and OCI.fullmatch(recorded):
        return recorded
    pinned = load_pinned(project).get(image.name)
    if pinned is not None and pinned.digest == image.digest and OCI.fullmatch(pinned.reference):
        return pinned.reference
    found = OCI.fullmatch(pinned.reference) if pinned is not None else None
    repository = found["repository"] if found else f"{cluster.registry.rstrip('/')}/{image.name}".lstrip("/")
    known = [one.oci for one in verifications(ns, image.name, access) if one.digest == image.digest]
    if known:
        return f"{repository}@{known[-1]}"
    raise FactoryError(
        f"nothing says which OCI image stands for {image.name} {image.digest[:16]}",
        found=f"images.toml pins {pinned.digest}" if pinned else "no entry in images.toml",
        expected=f'digest = "{image.digest}", reference = "<repository>@sha256:<64 digits>"',
        fix=f"push the image and write its digests under [{image.name}] in images.toml",
        code="image_not_pinned",
    )
