"""What a factory's stage is, in a sentence, where its author did not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifactory.datasets.stage import Stage


def sentence(stage: Stage) -> str:
    """For the UI; empty for a stage with a function, whose docstring says it."""
    inputs = {edge.role: edge.key for edge in stage.edges}
    said = stage.parameters
    match stage.factory:
        case "source":
            return f"Raw files, kept as they are: {_origin(said)}."
        case "split":
            shares = ", ".join(f"{part} {said[part]:g}" for part in ("train", "val", "test"))
            return f"{inputs['stage']} in parts ({shares}); rows of one `{said['by']}` stay together."
        case "tokenizer":
            return f"A byte-level BPE tokenizer of at most {said['vocabulary']:,} tokens, trained on {inputs['stage']}."
        case "tokenize":
            return f"{inputs['stage']} as tokens of {inputs['tokenizer']}, ready for training."
        case "suite":
            return f"What checkpoints are scored on: the test part of {inputs['stage']}, by {said['scorer']['kind']}."
    return ""


def _origin(said: dict[str, object]) -> str:
    if "package" in said:
        return f"from the package {said['package']} {said.get('version') or ''}".rstrip()
    return str(said.get("url") or said.get("archive") or said.get("file"))
