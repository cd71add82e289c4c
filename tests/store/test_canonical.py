from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.store import canonical, digest, hash_file, parse

SAFE = 2**53 - 1
scalars = (
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=15)


def test_the_digest_of_a_known_value_never_changes() -> None:
    value = {"b": [1, 2.5, "é"], "a": {"z": None, "y": True}}
    assert canonical(value) == '{"a":{"y":true,"z":null},"b":[1,2.5,"é"]}'.encode()
    assert digest(value) == "ebc208279181e829724cbb2f2408e10d859c61e154f23a2ed53e6511cc46ed06"


@given(values)
def test_a_value_read_back_has_the_same_canonical_form(value: object) -> None:
    assert canonical(parse(canonical(value))) == canonical(value)


@pytest.mark.parametrize("value", [2.0**53, -1e16, 123456789012345680000.0, 1e21, 1e300, 5e-324, -0.0])
def test_a_large_float_stays_that_float(value: float) -> None:
    assert parse(canonical(value)) == value


@given(st.dictionaries(st.text(), scalars))
def test_the_order_of_a_dict_does_not_matter(value: dict[str, object]) -> None:
    assert digest(dict(reversed(value.items()))) == digest(value)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), {1: "a"}, {"a": b"x"}, object(), "\ud800"]
)
def test_what_json_cannot_say_exactly_is_refused(value: object) -> None:
    with pytest.raises(FactoryError) as caught:
        canonical({"inner": [value]})
    assert caught.value.code == "canonical"
    assert caught.value.fix


def test_a_file_is_hashed_with_its_size(tmp_path: Path) -> None:
    data = b"factory" * 100_000
    (tmp_path / "data").write_bytes(data)
    assert hash_file(tmp_path / "data") == (len(data), hashlib.sha256(data).hexdigest())
