"""An image of the project on a running node: the sources as a layer above the dependencies, made in under a second."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from tests.kube.server import Kube

FOLDERS = ("src", "assets", "checks")


def add(kube: Kube, copy: Path, name: str) -> str:
    """The image `name` of a copy of its build inputs (`ensure_image(...).path`), as docker/<name>.Dockerfile would make
    it: its folders stand at /opt/aifactory. Returns its reference by digest, by which pods find it.

    Only the new layer travels, since the node has the others; equal files give an equal digest.
    """
    assert kube.image is not None, "this cluster has no real node"
    [found] = _ctr(kube, "images", "ls", f"name=={kube.image}").decode().splitlines()[1:]
    manifest = json.loads(_ctr(kube, "content", "get", found.split()[2]))
    config = json.loads(_ctr(kube, "content", "get", manifest["config"]["digest"]))
    archive = _Archive()
    layer = archive.blob(_layer(copy), manifest["layers"][-1])
    config["rootfs"]["diff_ids"].append(layer["digest"])
    config["history"].append({"created_by": "sources"})
    manifest["layers"].append(layer)
    manifest["config"] = archive.blob(json.dumps(config).encode(), manifest["config"])
    image = archive.blob(json.dumps(manifest).encode(), {"mediaType": manifest["mediaType"]})
    reference = f"localhost/aifactory-{name}@{image['digest']}"
    archive.index(image | {"annotations": {"io.containerd.image.name": reference}})
    _ctr(kube, "images", "import", "-", data=_tar(archive.files))
    return reference


class _Archive:
    """The files of an OCI archive."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def blob(self, data: bytes, like: dict[str, Any]) -> dict[str, Any]:
        """Adds it, and returns its descriptor, which is otherwise like this one."""
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return like | {"digest": f"sha256:{digest}", "size": len(data)}

    def index(self, image: dict[str, Any]) -> None:
        self.files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [image]}).encode()


def _layer(copy: Path) -> bytes:
    files = {
        f"opt/aifactory/{path.relative_to(copy).as_posix()}": path.read_bytes()
        for folder in FOLDERS
        for path in sorted((copy / folder).rglob("*"))
        if path.is_file() and path.parent.name != "__pycache__"
    }
    return _tar(files)


def _tar(files: dict[str, bytes]) -> bytes:
    """Nothing of the machine in it: no owner, no time. Folders come with their files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def _ctr(kube: Kube, *arguments: str, data: bytes | None = None) -> bytes:
    assert kube.state is not None
    # What the node's processes see as their root.
    node = Path("/proc", (kube.state / "node-pid").read_text().strip(), "root")
    command = ["ctr", "--address", f"{node}/run/containerd/containerd.sock", "--namespace", "k8s.io", *arguments]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
