"""Named tensors in one file, in the safetensors layout, and nested state as JSON plus such tensors.

The layout is 8 bytes (little-endian length of the header), a JSON header, and raw bytes. Equal tensors give equal
bytes (a pickle's bytes depend on which objects are shared), nothing in it can run code, and the `safetensors` package
reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aifactory.errors import FactoryError

DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_NAMES = {name: dtype for dtype, name in DTYPES.items()}


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], tree: object = None) -> None:
    """Write the tensors sorted by name, and `tree` (JSON) in the header."""
    header: dict[str, Any] = {"__metadata__": {"tree": json.dumps(tree, separators=(",", ":"))}}
    offset = 0
    for name in sorted(tensors):
        tensor = tensors[name]
        size = tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in sorted(tensors):
            flat = tensors[name].detach().cpu().contiguous().reshape(-1)
            file.write(flat.view(torch.uint8).numpy().data if flat.numel() else b"")


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], Any]:
    """The tensors (on the CPU) and the tree of a file. Raises FactoryError (code "checkpoint") for another layout."""
    data = np.fromfile(path, dtype=np.uint8)
    try:
        start = 8 + int.from_bytes(data[:8].tobytes(), "little")
        header = json.loads(data[8:start].tobytes())
        tree = json.loads(header.pop("__metadata__")["tree"])
        tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            tensor = torch.empty(entry["shape"], dtype=_NAMES[entry["dtype"]])
            if begin < end:
                raw = torch.from_numpy(data[start + begin : start + end].copy())
                tensor = raw.view(tensor.dtype).reshape(tensor.shape)
            tensors[name] = tensor
    except (ValueError, KeyError, RuntimeError, TypeError) as error:
        raise FactoryError(
            f"{path} does not hold tensors",
            found=f"{type(error).__name__}: {error}",
            expected="the safetensors layout",
            fix="use another checkpoint",
            code="checkpoint",
        ) from error
    return tensors, tree


def flatten(value: Any, tensors: dict[str, torch.Tensor], name: str = "t") -> Any:
    """`value` (nested dicts, lists, tuples, numbers, text, tensors) as JSON; its tensors are put into `tensors`.

    Dicts are written in the order of their keys, so that equal states give equal text.
    """
    match value:
        case torch.Tensor():
            tensors[name] = value
            return {"tensor": name}
        case dict():
            keys = sorted(value, key=lambda key: (type(key).__name__, key))
            return {"dict": [[key, flatten(value[key], tensors, f"{name}.{key}")] for key in keys]}
        case list() | tuple():
            items = [flatten(item, tensors, f"{name}.{i}") for i, item in enumerate(value)]
            return {"list" if isinstance(value, list) else "tuple": items}
        case None | bool() | int() | float() | str():
            return {"value": value}
    raise TypeError(f"{name}: a {type(value).__name__} has no place in a checkpoint")


def unflatten(tree: Any, tensors: Mapping[str, torch.Tensor]) -> Any:
    """What `flatten` was given."""
    ((kind, content),) = tree.items()
    match kind:
        case "tensor":
            return tensors[content]
        case "dict":
            return {key: unflatten(item, tensors) for key, item in content}
        case "list":
            return [unflatten(item, tensors) for item in content]
        case "tuple":
            return tuple(unflatten(item, tensors) for item in content)
        case _:
            return content
