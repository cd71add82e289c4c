"""How Dagster calls what the namespace calls by key."""

from __future__ import annotations

import re

import dagster as dg

from aifactory.namespace import Key


def asset_key(key: str | Key) -> dg.AssetKey:
    """`public/icd10cm/clean` as the asset `[public, icd10cm, clean]`."""
    return dg.AssetKey(str(key).split("/"))


def key_text(key: dg.AssetKey) -> str:
    """The key behind an asset."""
    return "/".join(key.path)


def op_name(key: str | Key) -> str:
    """`public__icd10cm__clean`: unique, since no segment of a key holds two underscores."""
    return str(key).replace("/", "__")


def group_name(key: str | Key) -> str:
    """The group of an asset in the UI: its dataset or line, without the class (`icd10cm`, `models__tiny`)."""
    segments = str(key).split("/")
    inner = segments[1:-1] if segments[0] == "public" else segments[2:-1]
    return "__".join(inner) or segments[-1]


def class_tags(key: str | Key) -> dict[str, str]:
    """The access class as tags, whose values may hold no slash: `class`, and `project` for private keys."""
    segments = str(key).split("/")
    if segments[0] == "public":
        return {"class": "public"}
    return {"class": "private", "project": segments[1]}


def access_of(key: str | Key) -> str:
    """`public` or `private/<project>`."""
    segments = str(key).split("/")
    return "public" if segments[0] == "public" else "/".join(segments[:2])


def tag_value(text: str) -> str:
    """`text` as the value of a Dagster tag: letters, digits, `_.-`, at most 63."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", text)[:63].strip("-_.")
