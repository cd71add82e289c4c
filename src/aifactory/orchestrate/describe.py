"""What Dagster shows of a stage's snapshot and of the checks on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from aifactory.channel import Audited, StageBuilt
from aifactory.channel.safe import METADATA
from aifactory.orchestrate.keys import access_of
from aifactory.orchestrate.tables import histogram, metadata_value, table


def built_metadata(built: StageBuilt, *, run: str, directory: Path) -> dict[str, Any]:
    """Metadata of a materialization. Values of rows only for public data."""
    access = access_of(built.key)
    shown: dict[str, Any] = {
        "class": access,
        "version": built.version,
        "outcome": built.outcome,
        "build_key": built.build_key,
        "code_version": built.code_version,
        "bytes": built.bytes,
        "files": built.files,
        "run": run,
        "run_directory": dg.MetadataValue.path(str(directory)),
    }
    if built.rows is not None:
        shown["dagster/row_count"] = built.rows
    if built.columns:
        shown["dagster/column_schema"] = column_schema(built.columns)
    if built.inputs:
        shown["inputs"] = inputs_table(built.inputs)
    if built.publication is not None:
        shown["publication"] = built.publication
    if built.previous is not None:
        shown["previous"] = built.previous
    for name, value in built.metadata.items():
        if name in shown or value in (None, {}, []) or (access != "public" and name not in METADATA):
            continue
        shown[name] = _for_people(name, value)
    return shown


def inputs_table(inputs: Mapping[str, str]) -> dg.MarkdownMetadataValue:
    """The versions that something was made from."""
    return dg.MetadataValue.md(table([{"input": key, "version": version} for key, version in sorted(inputs.items())]))


def column_schema(columns: list[dict[str, Any]]) -> dg.TableSchema:
    """The columns as Dagster's schema table."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=str(column["name"]),
                type=str(column.get("type", "")),
                constraints=dg.TableColumnConstraints(nullable=bool(column.get("nullable", True))),
            )
            for column in columns
        ]
    )


def check_result(
    asset: dg.AssetKey, name: str, audit: Audited | None, *, blocking: bool, version: str, run: str = ""
) -> dg.AssetCheckResult:
    """The result of one check. One that did not report is red: nothing says that the property holds.

    `version` is the snapshot that was checked, which for a red build is the staged one: Dagster shows the result beside
    the last materialization.
    """
    metadata: dict[str, Any] = {"version": version}
    if run:
        metadata["run"] = run
    if audit is not None:
        metadata |= {f"count: {count}": value for count, value in numbers(audit.counts).items()}
    passed = audit is not None and audit.passed
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=name,
        passed=passed,
        metadata=metadata,
        severity=dg.AssetCheckSeverity.ERROR if blocking else dg.AssetCheckSeverity.WARN,
        description=(audit.reason or None) if audit is not None else "the check did not report",
    )


def numbers(counts: Mapping[str, Any]) -> dict[str, int | float]:
    """The numbers among the counts of a check."""
    return {
        name: value for name, value in counts.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _for_people(name: str, value: Any) -> Any:
    if name in ("lengths", "histogram", "length_histogram"):
        buckets = _buckets(value)
        if buckets:
            unit = str(value.get("unit", "length")) if isinstance(value, Mapping) else "length"
            return dg.MetadataValue.md(histogram(buckets, unit))
    return metadata_value(name, value)


def _buckets(value: Any) -> list[tuple[str, int]]:
    if isinstance(value, Mapping):
        inner = value.get("buckets", value)
        if isinstance(inner, Mapping) and all(isinstance(count, int) for count in inner.values()):
            return [(str(name), count) for name, count in inner.items()]
        value = inner
    if isinstance(value, list) and value and all(isinstance(item, list | tuple) and len(item) >= 2 for item in value):
        return [("-".join(map(str, item[:-1])), int(item[-1])) for item in value]
    return []
