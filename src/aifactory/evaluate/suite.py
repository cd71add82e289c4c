"""A suite as it is read: its scorer and its rows. No torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from aifactory.errors import FactoryError
from aifactory.namespace import Key, Namespace
from aifactory.spec import BitsPerByte, InputRef, MultipleChoice, Scorer

SCORER = "scorer.json"
_SCORERS: TypeAdapter[MultipleChoice | BitsPerByte] = TypeAdapter(Scorer)


@dataclass(frozen=True)
class Suite:
    """Rows of a suite's part, verified, with the scorer that reads them."""

    key: str
    scorer: MultipleChoice | BitsPerByte
    rows: pa.Table

    @property
    def name(self) -> str:
        return Key(self.key).name

    @property
    def file_name(self) -> str:
        """Its results' file, unique among suites: the key with `__` for `/`."""
        return self.key.replace("/", "__") + ".parquet"

    def column(self, name: str) -> list[str]:
        """A column of texts; a missing text is empty. Raises FactoryError (code "suite") for one that isn't there."""
        if name not in self.rows.column_names:
            raise FactoryError(
                f"{self.key} has no column {name!r}, which its scorer reads",
                found=", ".join(self.rows.column_names),
                expected=name,
                fix="name a column of the suite in its scorer",
                code="suite",
            )
        return [str(value) if value is not None else "" for value in self.rows[name].to_pylist()]


def read_suite(namespace: Namespace, ref: InputRef) -> Suite:
    """Read and verify the suite that `ref` pins."""
    snapshot = namespace.resolve(ref.key, ref.version)
    snapshot.verify()
    try:
        config: Any = json.loads((snapshot.path / SCORER).read_bytes())
        scorer = _SCORERS.validate_python(config)
    except FileNotFoundError:
        raise _unreadable(ref, "no scorer.json") from None
    except (ValueError, ValidationError) as error:
        raise _unreadable(ref, str(error)) from error
    paths = [path for path in snapshot.paths(ref.part) if path.suffix == ".parquet"]
    rows = pa.concat_tables([pq.read_table(path) for path in paths]) if paths else pa.table({})
    snapshot.look()
    if not rows.num_rows:
        raise FactoryError(
            f"{ref.name} has no rows to score",
            found=f"0 rows in {len(paths)} files",
            expected="at least one",
            fix="look at the suite's input and its split",
            code="suite",
        )
    return Suite(ref.key, scorer, rows)


def _unreadable(ref: InputRef, found: str) -> FactoryError:
    return FactoryError(
        f"{ref.name} is no suite", found=found, expected="a scorer.json", fix="build the suite again", code="suite"
    )
