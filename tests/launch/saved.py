"""A checkpoint as a training leaves it, without a training."""

from __future__ import annotations

from pathlib import Path

from aifactory.launch import Plan
from aifactory.namespace import Namespace
from aifactory.store import canonical, digest, hash_file

LINE = "public/models/tiny"


def put_run(planned: Plan, run: str) -> Path:
    """The directory of a run of that plan, as its launcher leaves it before the first attempt."""
    directory = planned.class_root / "runs" / run
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "spec.json").write_bytes(planned.spec.to_bytes())
    (directory / "context.json").write_bytes(planned.context.to_bytes())
    return directory


def save(ns: Namespace, trained: Plan, run: str, step: int, *, attempt: int = 1, weights: str = "weights") -> str:
    """Put a checkpoint with files into the run's directory, which is made; its canonical path."""
    place = put_run(trained, run) / "checkpoints" / f"step-{step:08d}"
    place.mkdir(parents=True)
    model = {
        "gpt": trained.spec.train.model.document(),
        "precision": trained.spec.train.precision,
        "tokenizer": trained.spec.inputs_of("tokenizer")[0].document(),
    }
    (place / "model.json").write_bytes(canonical(model))
    (place / "model-00000.safetensors").write_text(weights)
    entries = []
    for name in ("model-00000.safetensors", "model.json"):
        size, sha256 = hash_file(place / name)
        entries.append({"path": name, "bytes": size, "sha256": sha256})
    content = {"format": 1, "spec": trained.hash, "step": step, "files": entries}
    record = {"content": content, "attempt": attempt, "digest": digest(content)}
    (place / "checkpoint.json").write_bytes(canonical(record))
    return ns.canonical(Path(place))
