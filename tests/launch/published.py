"""Small published snapshots: what a training and its evaluations are resolved from."""

from __future__ import annotations

import json
from pathlib import Path

from aifactory.launch import Plan
from aifactory.namespace import Audit, Audits, Namespace, Publications, Snapshot, Staging
from aifactory.spec import GPT, Mix, Recipe, Train
from aifactory.store import canonical, digest

VOCABULARY = 300
READY, BPE, SUITE = "public/probe/ready", "public/probe/bpe", "public/probe/chapters"
TOKENIZER = json.dumps({"model": {"vocab": {str(n): n for n in range(VOCABULARY)}}, "added_tokens": [{"content": "0"}]})


def publish(
    ns: Namespace,
    key: str,
    kind: str,
    files: dict[str, str],
    *,
    inputs: dict[str, str] | None = None,
    checks: dict[str, bool] | None = None,
    benchmark: bool = False,
) -> Snapshot:
    """Seal `files` (text by path; the first folder is the part, if it is one) and make them current."""
    staging = Staging.start(ns, key, "test")
    parts: dict[str, tuple[int | None, str | None]] = {}
    for name, text in files.items():
        path = staging.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        first = name.split("/")[0]
        parts[name] = (1, first if first in ("train", "val", "test") else None)
    snapshot, _ = staging.seal(kind=kind, benchmark=benchmark, rows=parts)  # type: ignore[arg-type]
    audits = [Audit(check=name, passed=passed, run="test") for name, passed in (checks or {}).items()]
    Audits(ns, key, snapshot.version).add(*audits)
    publications = Publications(ns, key)
    publications.publish(
        snapshot.version,
        publications.number(),
        run="test",
        writer="test",
        build_key=digest(files),
        inputs=inputs or {},
        code_version="1",
        checks=[name for name, passed in (checks or {}).items() if passed],
    )
    return snapshot


def publish_all(ns: Namespace) -> dict[str, Snapshot]:
    """A tokenizer, the tokens that it made, and a suite."""
    bpe = publish(ns, BPE, "tokenizer", {"tokenizer.json": TOKENIZER})
    ready = publish(
        ns,
        READY,
        "tokens",
        {"train/a.bin": "a", "val/a.bin": "b", "test/a.bin": "c"},
        inputs={BPE: bpe.version},
        checks={"integrity": True},
    )
    suite = publish(ns, SUITE, "suite", {"test/items": "items"}, checks={"unique": True})
    return {BPE: bpe, READY: ready, SUITE: suite}


def tiny() -> Train:
    """The config of the recipe."""
    return Train(model=GPT(layers=1, hidden=8, heads=2, context=16), mix=Mix.of({READY: 1.0}), steps=4)


RECIPE = Recipe(function=tiny, line="public/models/tiny", scored_on=(SUITE,))


def checkpoint(ns: Namespace, trained: Plan, run: str, step: int) -> str:
    """A training run's directory with one checkpoint in it; returns the checkpoint's canonical path."""
    directory = trained.class_root / "runs" / run
    place = directory / "checkpoints" / f"step-{step:08d}"
    place.mkdir(parents=True)
    (directory / "spec.json").write_bytes(trained.spec.to_bytes())
    (directory / "context.json").write_bytes(trained.context.to_bytes())
    content = {"format": 1, "step": step, "files": []}
    (place / "checkpoint.json").write_bytes(canonical({"content": content, "attempt": 1, "digest": digest(content)}))
    return ns.canonical(Path(place))
