"""Diff of two specs and their contexts: a finite list of fields, each old -> new. Pure: facts are gathered before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aifactory.spec.changes import ABSENT, leaves
from aifactory.spec.diff_inputs import input_changes
from aifactory.spec.diff_sources import source_changes
from aifactory.spec.difference import GROUPS, Change, Diff, Facts, Side, change

GIT = ("commit", "commit_note", "dirty", "dirty_digest")
CODE_OF_A_BUILD = ("function", "code_version")


def diff(old: Side, new: Side, facts: Facts | None = None) -> Diff:
    """Everything that differs. Two specs of one hash differ in context fields alone, two of another in at least one
    field that decides; a change of one identity field is one field here."""
    facts = facts or Facts()
    before, after = old.spec.identity(), new.spec.identity()
    found = [
        *input_changes(before, after, facts),
        *source_changes(old, new, facts),
        *_config(before, after),
        *_context(old.context, new.context),
    ]
    ordered = sorted(found, key=lambda one: GROUPS.index(one.group))
    return Diff(old.name, new.name, (old.spec.hash, new.spec.hash), tuple(ordered))


def _config(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name, old, new in leaves("", before["config"], after["config"]):
        yield change("code" if name in CODE_OF_A_BUILD else "config", name, old, new)
    for name in sorted(({*before, *after}) - {"config", "inputs", "image"}):
        for path, old, new in leaves(name, before.get(name, ABSENT), after.get(name, ABSENT)):
            yield change("config", path, old, new)


def _context(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    # A hash and a spec file come with less than a run: what one side never recorded says nothing about a difference.
    for name in sorted((before.keys() & after.keys()) - set(GIT)):
        for path, old, new in leaves(name, before[name], after[name]):
            yield change("context", path, old, new)
