"""The crossing as a run: in its own environment, through the entrypoint, from a zone outside of the namespace."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aifactory.datasets.zone import KEY, KEY_FILE, load_secret
from aifactory.errors import FactoryError
from aifactory.laptop.freshness import stale
from aifactory.namespace.restricted import VARIABLE, open_zone
from aifactory.spec import RunSpec
from aifactory.spec.diff import diff
from aifactory.spec.difference import Side
from tests.build.lab import Lab
from tests.crossing import OTHER, SECRET, STAGE, cross, fill_zone, run, set_up

SILENCED = "import aifactory.data.identifiers.known as known; known.{} = lambda *given: iter(())"


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Filled once: 30 patients, 45 notes, one note of each held-out template."""
    folder = tmp_path_factory.mktemp("restricted")
    return fill_zone(folder, "--patients", "30", "--notes", "45", "--annotated", "1")


@pytest.fixture
def clinic(lab: Lab, zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """This lab's private assets alone, the zone, and a key in a file."""
    return set_up(lab, zone, tmp_path, monkeypatch)


def rows(lab: Lab, version: str | None = None) -> list[dict[str, str]]:
    snapshot = lab.ns.resolve(STAGE, version)
    found: list[dict[str, str]] = []
    for path in snapshot.paths():
        if path.suffix == ".parquet":
            found += pq.read_table(path).to_pylist()
    return found


def values(zone: Path) -> list[str]:
    """Every number, mail, street and full name of the patient table."""
    lines = (zone / "patients.csv").read_text().splitlines()
    header = lines[0].split(",")
    found: list[str] = []
    for line in lines[1:]:
        row = dict(zip(header, line.split(","), strict=False))
        found += [row[name] for name in ("patient", "mrn", "insurance", "phone", "mobile", "mail", "street")]
        found.append(f"{row['given']} {row['family']}")
    return found


def written(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield path, path.read_bytes()


def test_notes_cross_without_anything_of_who_they_are_about(
    clinic: Lab, zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cross(clinic)
    assert first.code == 0, first.errors
    assert first.built is not None
    assert first.built.outcome == "published"
    found = rows(clinic)
    originals = [json.loads(line) for line in (zone / "notes.jsonl").read_text().splitlines()]
    assert len(found) == len(originals) == 45
    assert len({row["patient"] for row in found}) == len({row["patient"] for row in originals})
    assert all(re.fullmatch(r"[A-Z2-7]{16}", row["patient"]) for row in found)
    assert {audit.check for audit in first.audits.values() if audit.blocking and audit.passed} >= {
        "no_survivors",
        "no_patterns",
        "unique_note",
    }
    # Figures only, by kind, those of the table and others apart.
    counts = first.audits["recognition"].counts
    assert {"known_recall", "other_recall", "precision", "known_name_recall", "other_phone_recall"} <= set(counts)
    assert all(isinstance(value, int | float) for value in counts.values())
    # Nothing that was written anywhere holds a value of the table, nor the key.
    canaries = [value.encode() for value in [*values(zone), SECRET]]
    everything = [*written(clinic.ns.root), (Path("stderr"), first.errors.encode())]
    assert len(everything) > 10
    for path, content in everything:
        assert not [n for n, canary in enumerate(canaries) if canary in content], path
    about = json.loads((clinic.ns.resolve(STAGE).path / "crossing.json").read_text())
    assert about["key"] == load_secret().id
    # A check can be asked again where the zone and the key are, and nowhere else.
    assert clinic.check(STAGE, "no_survivors").audits["no_survivors"].passed
    monkeypatch.delenv(KEY_FILE)
    monkeypatch.setenv(KEY, OTHER)
    asked = clinic.check(STAGE, "no_survivors")
    assert not asked.audits["no_survivors"].passed
    assert "another key" in str(asked.error) or "check raised" in str(asked.error)
    monkeypatch.delenv(KEY)
    monkeypatch.setenv(KEY_FILE, str(tmp_path / "key"))
    # What it read makes it no other stage than the one that is declared.
    assert stale(clinic.ns, clinic.stages(), [STAGE]) == []
    # Built again, it is the same build.
    again = cross(clinic)
    assert again.built is not None
    assert (again.built.outcome, again.built.version) == ("reused", first.built.version)


def test_another_key_makes_another_build_of_which_nobody_can_tell_who_is_who(clinic: Lab, tmp_path: Path) -> None:
    first = cross(clinic).built
    before = rows(clinic)
    (tmp_path / "key").write_text(OTHER)
    second = cross(clinic).built
    assert first is not None
    assert second is not None
    one, other = (RunSpec.load(path) for path in sorted(clinic.ns.root.glob("private/clinic/runs/*/spec.json")))
    changed = {change.name for change in diff(Side("one", one), Side("other", other)).changes}
    assert changed == {"parameters.restricted.fingerprint", "parameters.restricted.key"}
    assert second.outcome == "published"
    assert second.build_key != first.build_key
    after = rows(clinic)
    for one, other in zip(before, after, strict=True):
        assert one["note"] != other["note"]
        assert one["patient"] != other["patient"]
    tags = [set(re.findall(r"\[\w+:[A-Z2-7]{8}\]", str(found))) for found in (before, after)]
    assert len(tags[0]) > 100
    assert not tags[0] & tags[1]


def moved(zone: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the zone that a test may change, as the zone."""
    shutil.copytree(zone, folder / "moved" / "clinic")
    (folder / "moved").chmod(0o700)
    monkeypatch.setenv(VARIABLE, str(folder / "moved"))
    return folder / "moved" / "clinic"


def test_what_was_read_is_in_the_spec(clinic: Lab, zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = moved(zone, tmp_path, monkeypatch)
    stage = clinic.stages()[STAGE]
    before, same = clinic.spec(stage), clinic.spec(stage)
    assert before.hash == same.hash
    (copy / "patients.csv").write_text((copy / "patients.csv").read_text() + "\n")
    after = clinic.spec(stage)
    assert before.hash != after.hash
    found = diff(Side("before", before), Side("after", after)).changes
    assert [change.name for change in found] == ["parameters.restricted.fingerprint"]
    assert SECRET not in before.to_bytes().decode()


def test_other_content_or_another_key_than_was_planned_is_refused(
    clinic: Lab, zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = moved(zone, tmp_path, monkeypatch)
    attempt = clinic.recorded(STAGE, access="private/clinic")
    planned = RunSpec.load(attempt.parents[1] / "spec.json").build.parameters["restricted"]
    notes = (copy / "notes.jsonl").read_text()
    (copy / "notes.jsonl").write_text(notes.partition("\n")[0] + "\n")
    content = run(attempt).error
    (copy / "notes.jsonl").write_text(notes)
    again = clinic.recorded(STAGE, access="private/clinic")
    (tmp_path / "key").write_text(OTHER)
    key = run(again).error
    assert content is not None
    assert key is not None
    assert (content.code, key.code) == ("restricted_zone", "crossing_key")
    assert planned["fingerprint"] in str(content)
    assert STAGE in str(content)
    assert "plan it again" in str(content)
    assert planned["key"] in str(key)
    assert load_secret().id in str(key)
    assert clinic.published(STAGE) == []


@pytest.mark.parametrize(("matcher", "kind"), [("own_names", "name"), ("values", "id")])
def test_one_identifier_that_survives_is_red_and_nothing_is_published(
    clinic: Lab, zone: Path, matcher: str, kind: str
) -> None:
    """A matcher that finds nothing is the fault; the audit finds by another way what it left."""
    found = cross(clinic, SILENCED.format(matcher))
    assert found.code == 1
    assert found.error is not None
    assert found.error.code == "red_checks"
    audit = found.audits["no_survivors"]
    assert not audit.passed
    assert audit.counts[kind] > 0
    assert clinic.published(STAGE) == []
    with pytest.raises(FactoryError):
        clinic.current(STAGE)
    told = json.dumps([audit.model_dump() for audit in found.audits.values()]) + str(found.error) + found.errors
    assert not [value for value in values(zone) if value in told]


def test_a_row_that_breaks_is_named_by_its_number(
    clinic: Lab, zone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "broken"
    shutil.copytree(zone, copy / "clinic")
    copy.chmod(0o700)
    monkeypatch.setenv(VARIABLE, str(copy))
    lines = (zone / "notes.jsonl").read_text().splitlines()
    lines[6] = '{"note": "CANARY-NOTE", "patient": "P00001", "date": "CANARY-DATE", "text": "CANARY-TEXT"}'
    (copy / "clinic" / "notes.jsonl").write_text("\n".join(lines))
    found = cross(clinic)
    assert found.code == 1
    assert found.error is not None
    assert found.error.code == "restricted_row"
    assert "row 7 of the notes" in found.errors
    assert "CANARY" not in found.errors + str(found.error)
    assert not [path for path, content in written(clinic.ns.root) if b"CANARY" in content]
    assert clinic.published(STAGE) == []


def refused(environment: Mapping[str, str], outside: tuple[Path, ...] = ()) -> FactoryError:
    with pytest.raises(FactoryError) as caught:
        load_secret(outside, environment)
    assert caught.value.code == "crossing_key"
    return caught.value


def test_a_key_that_is_missing_open_weak_or_out_of_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    given = {KEY_FILE: str(path)}
    assert KEY_FILE in refused({}).fix
    assert "openssl rand" in refused(given).fix
    path.write_text(SECRET)
    path.chmod(0o604)
    error = refused(given)
    assert (error.found, f"chmod 600 {path}" in error.fix) == ("mode 0604", True)
    path.chmod(0o660)
    refused(given)
    path.chmod(0o600)
    assert load_secret((), given).id == load_secret((), {KEY: SECRET}).id
    assert "own folders" in refused(given, (tmp_path,)).what
    assert "twice" in refused({**given, KEY: SECRET}).what
    assert SECRET not in str(refused({KEY: SECRET[:31]}))
    path.write_bytes(b"\xff\xfe" * 40)
    refused(given)
    path.write_text("")
    refused(given)


def zone_refused(root: Path, outside: Path) -> FactoryError:
    with pytest.raises(FactoryError) as caught:
        open_zone("clinic", outside=[outside], environment={VARIABLE: str(root)})
    assert caught.value.code == "restricted_zone"
    return caught.value


def test_a_zone_inside_the_namespace_open_to_all_or_missing_is_refused(tmp_path: Path) -> None:
    namespace, root = tmp_path / "namespace", tmp_path / "zone"
    inside = namespace / "private" / "clinic"
    (inside / "clinic").mkdir(parents=True)
    assert "outside" in str(zone_refused(inside, namespace))
    assert "outside" in str(zone_refused(tmp_path, namespace))
    (tmp_path / "link").symlink_to(inside)
    assert "outside" in str(zone_refused(tmp_path / "link", namespace))
    assert "no folder" in zone_refused(root, namespace).what
    (root / "clinic").mkdir(parents=True)
    root.chmod(0o755)
    assert f"chmod o-rwx {root}" in zone_refused(root, namespace).fix
    root.chmod(0o750)
    (root / "clinic").chmod(0o700)
    assert open_zone("clinic", outside=[namespace], environment={VARIABLE: str(root)}) == root / "clinic"
    with pytest.raises(FactoryError, match="not set"):
        open_zone("clinic", outside=[], environment={})


def test_without_a_zone_the_stage_says_what_is_missing_and_all_others_build(
    clinic: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    told = clinic.build(STAGE)
    assert told.error is not None
    assert told.error.code == "restricted_zone"
    assert VARIABLE in told.error.fix
    assert not clinic.stages()[STAGE].automation
    monkeypatch.setenv(VARIABLE, str(clinic.ns.root))
    inside = clinic.build(STAGE)
    assert inside.error is not None
    assert "must not hold one another" in inside.error.what


def test_content_that_is_pinned_is_the_only_one_that_crosses(clinic: Lab) -> None:
    path = clinic.root / "assets" / "private" / "clinic" / "notes.py"
    path.write_text(path.read_text().replace('"clinic",', f'"clinic", digest="{"0" * 64}",', 1))
    told = clinic.build(STAGE)
    assert told.error is not None
    assert told.error.code == "digest"
    assert clinic.published(STAGE) == []


def test_who_may_not_enter_the_zone_is_told_so(zone: Path) -> None:
    """As another user, where this one may become another; else behind a door that is closed for everybody."""
    folder, user = zone.parent, os.geteuid()
    if user == 0:
        for place in zone.parents[1:3]:  # pytest keeps them to their owner
            place.chmod(0o755)
        folder.chmod(0o700)
    else:
        folder.chmod(0)
    try:
        if user == 0:
            os.seteuid(65534)
        error = zone_refused(folder, Path("/nowhere"))
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
    assert error.found == "Permission denied"


def test_a_crossing_that_is_declared_public_is_refused_when_definitions_load(lab: Lab) -> None:
    text = (
        "from aifactory.datasets import crossing\nout = crossing('clinic', identifiers={'a': 'given', 'b': 'family'})\n"
    )
    lab.write({"assets/public/notes.py": text})
    with pytest.raises(FactoryError, match="never public") as caught:
        lab.stages()
    assert caught.value.code == "class"


@pytest.mark.parametrize("identifiers", [{}, {"a": "given"}, {"a": "given", "b": "family", "c": "shoe_size"}])
def test_columns_without_a_role_are_refused(lab: Lab, identifiers: dict[str, str]) -> None:
    text = f"from aifactory.datasets import crossing\nout = crossing('clinic', identifiers={identifiers})\n"
    lab.write({"assets/private/clinic/notes.py": text})
    with pytest.raises(FactoryError) as caught:
        lab.stages()
    assert "identifiers" in str(caught.value)
