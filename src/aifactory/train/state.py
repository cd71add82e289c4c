"""What a checkpoint holds of a training, as files and back: weights, optimizer, generators, position in the data.

One file per model-parallel rank (there is one here). Data-parallel workers hold equal copies, so worker 0 writes them,
and any number of workers can read them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from aifactory.store import canonical
from aifactory.train.checkpoint import Checkpoint
from aifactory.train.tensors import flatten, read_tensors, unflatten, write_tensors

MODEL = "model-00000.safetensors"
TRAINING = "training-00000.safetensors"
STREAM = "stream.json"
CONFIG = "model.json"


def weights(model: Any) -> dict[str, torch.Tensor]:
    """The model's tensors by name; megatron's `_extra_state` entries say nothing without TransformerEngine."""
    return {name: value for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}


def files(
    model: Any, optimizer: Any, stream: Mapping[str, Any], config: Mapping[str, Any]
) -> dict[str, Callable[[Path], None]]:
    """The files of a checkpoint, by name, each with the function that writes it."""
    tensors: dict[str, torch.Tensor] = {}
    generators: dict[str, Any] = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        generators["cuda"] = torch.cuda.get_rng_state()
    tree = flatten({"optimizer": optimizer.state_dict(), "generators": generators}, tensors)
    return {
        MODEL: lambda path: write_tensors(path, weights(model)),
        TRAINING: lambda path: write_tensors(path, tensors, tree),
        STREAM: lambda path: _write(path, canonical(dict(stream))),
        CONFIG: lambda path: _write(path, canonical(dict(config))),
    }


def load_weights(model: Any, saved: Checkpoint) -> None:
    """Fill the model. Raises torch's RuntimeError for other names or shapes."""
    tensors, _ = read_tensors(saved.file(MODEL))
    model.load_state_dict(tensors, strict=False)
    missing = set(weights(model)) ^ set(tensors)
    if missing:
        raise RuntimeError(f"{saved.path}: weights of another model, differing in {sorted(missing)}")


def load_training(optimizer: Any, saved: Checkpoint) -> dict[str, Any]:
    """Fill the optimizer and the random generators; returns the stream's state."""
    tensors, tree = read_tensors(saved.file(TRAINING))
    state = unflatten(tree, tensors)
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["generators"]["cpu"])
    if torch.cuda.is_available() and "cuda" in state["generators"]:
        torch.cuda.set_rng_state(state["generators"]["cuda"])
    return dict(json.loads(saved.file(STREAM).read_bytes()))


def model_config(saved: Checkpoint) -> dict[str, Any]:
    """The config that the model was made from: {gpt, precision, tokenizer}."""
    return dict(json.loads(saved.file(CONFIG).read_bytes()))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
