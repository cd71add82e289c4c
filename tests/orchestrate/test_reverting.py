"""A commit to a dataset that is reverted: automation publishes what was there before, and builds nothing again."""

from __future__ import annotations

import dagster as dg

from aifactory.namespace import Publications
from aifactory.orchestrate.automation import AUTOMATION, REQUESTER_TAG
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.reported import materializations, value_of
from tests.orchestrate.lab import LETTERS, Lab

KEYS = ("public/letters/raw", "public/letters/clean")
BY_ITSELF = {REQUESTER_TAG: AUTOMATION}


def test_a_reverted_commit_is_followed_without_building_anything_again(lab: Lab, instance: dg.DagsterInstance) -> None:
    after: list[dict[str, str]] = []
    for text in (LETTERS, LETTERS.replace('ord("a")', 'ord("A")').replace("upper()", "lower()"), LETTERS):
        lab.write("assets/public/letters.py", text)
        assert lab.materialize(instance, tags=BY_ITSELF).success
        after.append({key: lab.namespace.resolve(key).version for key in KEYS})
    assert after[0] == after[2]
    for key in KEYS:
        assert after[0][key] != after[1][key]
        first, _, last = Publications(lab.namespace, key).all()
        assert (last.action, last.build_key, last.version) == ("publish", first.build_key, first.version)
        event = next(materializations(instance, asset_key(key)))
        assert value_of(event, "built_by") == first.run
        assert event.tags["dagster/data_version"] == first.version
