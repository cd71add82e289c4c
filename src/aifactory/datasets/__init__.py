"""Stages: how a dataset is declared. Knows no Dagster, so that it runs in an image; loads without Arrow."""

from aifactory.datasets.checks import (
    Check,
    CheckResult,
    check,
    disjoint,
    no_nulls,
    not_empty,
    rows,
    token_range,
    unique,
)
from aifactory.datasets.config import build_config, check_config
from aifactory.datasets.crossing import crossing
from aifactory.datasets.decorator import dataset
from aifactory.datasets.factories import split, suite, tokenize, tokenizer
from aifactory.datasets.graph import find_stages
from aifactory.datasets.report import count, drop
from aifactory.datasets.sources import source
from aifactory.datasets.stage import Edge, Part, Stage

__all__ = [
    "Check",
    "CheckResult",
    "Edge",
    "Part",
    "Stage",
    "build_config",
    "check",
    "check_config",
    "count",
    "crossing",
    "dataset",
    "disjoint",
    "drop",
    "find_stages",
    "no_nulls",
    "not_empty",
    "rows",
    "source",
    "split",
    "suite",
    "token_range",
    "tokenize",
    "tokenizer",
    "unique",
]
