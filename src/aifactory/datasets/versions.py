"""Versions set by hand: of the factories, and of the transforms of `aifactory.data` that stages' code may use.

Raise a number when its code starts to give other results; every stage that used it is then built again. A test compares
digests of the code with `tests/golden/transforms.json`, so that a change can't be forgotten.
"""

from __future__ import annotations

TRANSFORMS: dict[str, int] = {
    f"aifactory.data.{name}": version
    for name, version in {
        "identifiers": 3,
        "archive": 1,
        "bpe": 1,
        "corpus": 1,
        "indexed": 1,
        "normalize": 1,
        "shards": 1,
        "split": 1,
        "stream": 1,
        "tokens": 1,
        "unigram": 1,
        "xml": 1,
    }.items()
}

FACTORIES: dict[str, tuple[int, tuple[str, ...]]] = {
    "crossing": (2, ("identifiers", "shards")),
    "source": (1, ("archive",)),
    "split": (1, ("split", "shards")),
    "tokenizer": (1, ("bpe", "shards")),
    "tokenize": (1, ("tokens", "indexed", "bpe", "normalize", "shards")),
    "suite": (1, ("shards",)),
}
"""Version of the factory's own code, and the transforms that it is made of."""


def factory_version(factory: str) -> str:
    """`split-1.split-1.shards-1`: rises with the factory and with every transform that it uses."""
    own, transforms = FACTORIES[factory]
    return ".".join([f"{factory}-{own}", *(f"{name}-{TRANSFORMS[f'aifactory.data.{name}']}" for name in transforms)])
