from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aifactory.errors import FactoryError

torch: Any = pytest.importorskip("torch", reason="torch is not installed here")


def test_tensors_of_every_type_come_back_and_equal_ones_give_equal_bytes(tmp_path: Path) -> None:
    from aifactory.train.tensors import DTYPES, read_tensors, write_tensors

    tensors = {str(dtype): torch.arange(6).reshape(2, 3).to(dtype) for dtype in DTYPES}
    tensors |= {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "turned": torch.arange(6.0).reshape(2, 3).T}
    write_tensors(tmp_path / "a", tensors, {"x": 1})
    write_tensors(tmp_path / "b", {name: tensors[name].clone() for name in reversed(tensors)}, {"x": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    read, tree = read_tensors(tmp_path / "a")
    assert tree == {"x": 1}
    assert all(torch.equal(read[name], value) and read[name].dtype == value.dtype for name, value in tensors.items())


def test_nested_state_comes_back(tmp_path: Path) -> None:
    from aifactory.train.tensors import flatten, read_tensors, unflatten, write_tensors

    state = {
        "state": {1: {"step": torch.tensor(3.0)}, 0: {}},
        "groups": [{"betas": (0.9, 0.95), "lr": 1e-3, "x": None}],
    }
    tensors: dict[str, Any] = {}
    tree = flatten(state, tensors)
    write_tensors(tmp_path / "a", tensors, tree)
    read, tree = read_tensors(tmp_path / "a")
    assert unflatten(tree, read) == state


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickle", bytes(64), b'\x10\0\0\0\0\0\0\0{"weights": 5}  '])
def test_another_layout_is_refused(tmp_path: Path, content: bytes) -> None:
    from aifactory.train.tensors import read_tensors

    (tmp_path / "a").write_bytes(content)
    with pytest.raises(FactoryError) as caught:
        read_tensors(tmp_path / "a")
    assert caught.value.code == "checkpoint"
