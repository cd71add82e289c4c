"""What Dagster holds already, so that nothing is told twice."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

PAGE = 200


def materializations(
    instance: dg.DagsterInstance, key: dg.AssetKey, *, since: float | None = None
) -> Iterator[dg.AssetMaterialization]:
    """Materializations of an asset, newest first; `since`: a POSIX time."""
    cursor: str | None = None
    wanted = dg.AssetRecordsFilter(asset_key=key, after_timestamp=since)
    while True:
        page = instance.fetch_materializations(wanted, limit=PAGE, cursor=cursor)
        for record in page.records:
            if record.asset_materialization is not None:
                yield record.asset_materialization
        if not page.has_more:
            return
        cursor = page.cursor


def value_of(event: dg.AssetMaterialization | dg.AssetCheckEvaluation, name: str) -> object:
    """A value of its metadata; None if there is none."""
    entry = event.metadata.get(name)
    return None if entry is None else entry.value


def messages_of(
    instance: dg.DagsterInstance, key: dg.AssetKey, run: str, *, since: float | None = None
) -> set[tuple[int, int]]:
    """The (attempt, seq) of the messages of `run` that stand as materializations of `key`."""
    found = set()
    for event in materializations(instance, key, since=since):
        if value_of(event, "run") == run:
            attempt, seq = value_of(event, "attempt"), value_of(event, "message")
            if isinstance(attempt, int) and isinstance(seq, int):
                found.add((attempt, seq))
    return found
