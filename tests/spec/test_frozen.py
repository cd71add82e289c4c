"""Frozen specs: written once, verified when read, with a journal of their resolutions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.spec import Context, RunSpec, access_of, freeze, load_frozen
from tests.spec.factories import build_spec, small_train, train_spec

RESOLUTION = Context(recipe="tiny", line="public/models/tiny", commit="abc").resolution()


@pytest.fixture
def ns(tmp_path: Path) -> Namespace:
    return Namespace(tmp_path / "namespace")


def private_spec() -> RunSpec:
    spec = train_spec()
    dataset, tokenizer = spec.inputs
    key = "private/clinic/notes/ready"
    config = spec.train.evolve({"mix.sources.0.key": key})
    return RunSpec(kind="train", config=config, inputs=(dataset.evolve({"key": key}), tokenizer), image=spec.image)


def test_a_spec_is_frozen_under_its_hash_and_read_back(ns: Namespace) -> None:
    path = freeze(ns, train_spec(), RESOLUTION)
    assert path == ns.root / "public" / "specs" / train_spec().hash / "spec.json"
    frozen = load_frozen(ns, train_spec().hash)
    assert frozen.spec == train_spec()
    assert frozen.path == path
    assert frozen.resolution["recipe"] == "tiny"
    assert load_frozen(ns, train_spec().hash[:8]).spec == train_spec()


def test_freezing_again_writes_nothing_new_and_another_resolution_is_added(ns: Namespace) -> None:
    path = freeze(ns, train_spec(), RESOLUTION)
    before = path.stat().st_mtime_ns
    freeze(ns, train_spec(), RESOLUTION)
    assert len(load_frozen(ns, train_spec().hash).resolutions) == 1
    freeze(ns, train_spec(), {**RESOLUTION, "commit": "def"})
    assert [one.body["commit"] for one in load_frozen(ns, train_spec().hash).resolutions] == ["abc", "def"]
    assert path.stat().st_mtime_ns == before


def test_the_class_is_derived_from_what_is_read_and_written(ns: Namespace) -> None:
    assert access_of(train_spec(), RESOLUTION) == "public"
    assert access_of(private_spec()) == "private/clinic"
    assert access_of(train_spec(), {"line": "private/clinic/models/notes"}) == "private/clinic"
    assert access_of(build_spec()) == "public"
    path = freeze(ns, private_spec(), {**RESOLUTION, "line": "private/clinic/models/notes"})
    assert path.is_relative_to(ns.root / "private" / "clinic" / "specs")
    assert load_frozen(ns, private_spec().hash).path == path
    with pytest.raises(FactoryError) as caught:
        access_of(private_spec(), {"line": "private/other/models/notes"})
    assert caught.value.code == "class"


@pytest.mark.parametrize("edit", ["config", "torn"])
def test_an_edited_frozen_spec_is_refused(ns: Namespace, edit: str) -> None:
    path = freeze(ns, train_spec(), RESOLUTION)
    record = json.loads(path.read_bytes())
    record["spec"]["config"]["seed"] = 7
    path.chmod(0o644)
    path.write_bytes(json.dumps(record).encode() if edit == "config" else path.read_bytes()[:-9])
    for read in (lambda: load_frozen(ns, train_spec().hash), lambda: freeze(ns, train_spec(), RESOLUTION)):
        with pytest.raises(FactoryError) as caught:
            read()
        assert caught.value.code == "edited"
        assert train_spec().hash in str(caught.value)


def test_a_spec_swapped_for_another_valid_one_is_refused(ns: Namespace) -> None:
    path = freeze(ns, train_spec(), RESOLUTION)
    other = train_spec(small_train(seed=9))
    path.chmod(0o644)
    path.write_bytes(other.to_bytes())
    with pytest.raises(FactoryError) as caught:
        load_frozen(ns, train_spec().hash)
    assert other.hash in str(caught.value)
    assert train_spec().hash in str(caught.value)


@pytest.mark.parametrize("hash", ["", "0" * 64, "../../public", "*"])
def test_an_unknown_hash_is_refused(ns: Namespace, hash: str) -> None:
    freeze(ns, train_spec(), RESOLUTION)
    with pytest.raises(FactoryError) as caught:
        load_frozen(ns, hash)
    assert caught.value.code == "unknown_spec"
    with pytest.raises(FactoryError):
        load_frozen(ns, train_spec().hash[:7])


def test_freezing_at_a_read_only_place_says_so(ns: Namespace, tmp_path: Path) -> None:
    root = tmp_path / "file"
    root.write_text("a file where the namespace should be")
    with pytest.raises((FactoryError, OSError)):
        freeze(Namespace(root), train_spec(), RESOLUTION)


def test_the_hash_follows_what_a_copy_changes(ns: Namespace) -> None:
    freeze(ns, train_spec(), RESOLUTION)
    loaded = load_frozen(ns, train_spec().hash).spec
    assert loaded.evolve({"config.seed": 5}).hash == train_spec(small_train(seed=5)).hash
    with pytest.raises(FactoryError, match="evolve"):
        loaded.model_copy(update={"kind": "smoke"})
