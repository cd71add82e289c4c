"""Two locations of one Dagster, each as a user of its own: what is built where, and what the machine refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from aifactory.launch.scope import VARIABLE, Scope
from aifactory.namespace import Key, Publications
from aifactory.namespace.trees import look
from aifactory.orchestrate.automation import AUTOMATION, REQUESTER_TAG
from aifactory.orchestrate.keys import access_of
from tests.faults.served import until
from tests.orchestrate.two import CLASSES, OWNERS, Two, served
from tests.orchestrate.users import root_only

BUILT = ("public/letters/raw", "public/letters/clean", "private/ward/notes/linked", "private/ward/notes/parts")
LOCATIONS = {"aifactory-public", "aifactory-private-ward"}
NODES = "query { assetNodes { assetKey { path } isMaterializable repository { location { name } } } }"
WORKSPACE = """query { workspaceOrError { ... on Workspace { locationEntries { name
  locationOrLoadError { ... on RepositoryLocation { repositories { sensors { name } schedules { name } } } } } } } }"""
BUILD = """
import sys
import dagster as dg
sys.path.insert(0, sys.argv[2])
import definitions
job = definitions.defs.resolve_implicit_global_asset_job_def()
key = dg.AssetKey(sys.argv[1].split("/"))
done = job.execute_in_process(instance=dg.DagsterInstance.ephemeral(), asset_selection=[key], raise_on_error=False)
sys.exit(0 if done.success else 1)
"""


@pytest.fixture(scope="module")
def two() -> Iterator[Two]:
    root_only()
    with served() as two:
        yield two


def test_automation_builds_everything_once_each_as_its_own_user(two: Two) -> None:
    until(lambda: all(two.built(key) for key in BUILT), "the builds", 120)
    runs = two.settled()
    assert {key: two.built(key) for key in BUILT} == dict.fromkeys(BUILT, 1)
    for key in BUILT:
        of = Key(key).access
        snapshot = two.ns.resolve(key)
        assert {path.stat().st_uid for path in [snapshot.path, *snapshot.path.rglob("*")]} == {CLASSES[of]}
        (published,) = Publications(two.ns, key).all()
        assert published.writer == f"pipeline/{of}@{CLASSES[of]} for automation"
    assert two.ns.resolve("private/ward/notes/linked").manifest.rows == 26
    assert {run["tags"]["dagster/code_location"] for run in runs} == LOCATIONS
    assert {run["status"] for run in runs} == {"SUCCESS"}
    assert {run["tags"][REQUESTER_TAG] for run in runs} == {AUTOMATION}


def test_every_asset_is_materializable_in_one_location_only(two: Two) -> None:
    nodes = {"/".join(node["assetKey"]["path"]): node for node in two.any.ask(NODES)["assetNodes"]}
    assert set(BUILT) <= set(nodes)
    for key, node in nodes.items():
        assert node["repository"]["location"]["name"] == Scope(access_of(key)).location
        assert node["isMaterializable"] == (key in BUILT)


def test_sensors_and_schedules_of_the_two_are_told_apart(two: Two) -> None:
    entries = two.any.ask(WORKSPACE)["workspaceOrError"]["locationEntries"]
    assert {entry["name"] for entry in entries} == LOCATIONS
    found = [
        one["name"]
        for entry in entries
        for repository in entry["locationOrLoadError"]["repositories"]
        for one in (*repository["sensors"], *repository["schedules"])
    ]
    assert len(found) == len(set(found)) == 2 * len({name.partition("__")[0] for name in found})


def test_a_training_of_the_other_class_is_refused_and_names_its_location(two: Two) -> None:
    of, recipe, other = "public", "wardlike", "private/ward"
    client = two.clients[of]
    run = client.launch_job("train", {"ops": {"train": {"config": {"recipe": recipe}}}})
    said = "".join(event.error or "" for event in client.follow(run))
    assert client.run(run)["status"] == "FAILURE"
    for word in (Scope(of).location, recipe, f"found: {other}", f"expected: {of}", f"{VARIABLE}={other}"):
        assert word in said, said
    frozen = [path.read_text() for path in two.ns.root.glob("**/specs/*/spec.json")]
    assert not [text for text in frozen if '"kind":"train"' in text]


def test_everything_that_the_locations_left_is_as_the_doctor_wants_it(two: Two) -> None:
    said = list(look(two.ns.root, OWNERS, ()))
    assert [one.fix for one in said] == [""] * len(OWNERS), said


@pytest.mark.parametrize(
    ("of", "code"),
    [
        ("public", "import os; os.listdir(root + '/private/ward')"),
        ("public", "open(root + '/private/ward/notes/linked/@journal/00000001.json')"),
        ("public", "open(root + '/private/ward/planted', 'w')"),
        ("public", "open(root + '/planted', 'w')"),
        ("public", "import os; os.mkdir(root + '/private/planted')"),
        ("private/ward", "open(root + '/public/planted', 'w')"),
        ("private/ward", "import os; os.listdir(root + '/private/other')"),
        ("private/ward", "import os; os.rename(root + '/private/ward', root + '/public/ward')"),
    ],
)
def test_what_is_another_identitys_is_refused_by_the_machine(two: Two, of: str, code: str) -> None:
    done = two.python(CLASSES[of], of, "-c", f"root = {str(two.ns.root)!r}\n{code}")
    assert done.returncode == 1
    assert done.stderr.strip().rpartition("\n")[2].startswith("PermissionError")


@pytest.mark.parametrize(
    ("of", "key"), [("public", "private/ward/notes/linked"), ("private/ward", "public/letters/raw")]
)
def test_an_identity_that_loads_another_class_builds_nothing_of_it(two: Two, of: str, key: str) -> None:
    """What holds it is the machine, not the variable."""
    before = two.built(key)
    done = two.python(CLASSES[of], of, "-c", BUILD, key, str(two.users.checkout), **{VARIABLE: Key(key).access})
    assert done.returncode == 1, done.stdout
    # Of a private build only the error's type is told.
    assert "Permission denied" in done.stderr or "PermissionError" in done.stderr, done.stderr
    assert two.built(key) == before


def test_a_private_key_is_not_there_for_who_may_not_read_it(two: Two) -> None:
    code = (
        "from aifactory.namespace import Namespace; from aifactory.launch import runs; ns = Namespace.open();"
        "print(sorted({key.access for key in ns.keys()}), len(runs(ns)))"
    )
    done = two.python(CLASSES["public"], "public", "-c", code)
    count = len(list((two.ns.root / "public" / "runs").iterdir()))
    assert done.stdout.strip() == f"['public'] {count}", done.stderr


def test_the_doctor_is_green_for_an_identity_and_names_what_is_wrong(two: Two) -> None:
    def doctor(uid: int, *options: str) -> list[dict[str, str]]:
        done = two.python(uid, "public", "-m", "aifactory.cli", "doctor", "--json", *options)
        findings = json.loads(done.stdout)["findings"]
        assert (done.returncode == 1) == any(one["state"] == "broken" for one in findings)
        return [one for one in findings if one["name"] in ("root", "identities", "tree")]

    findings = doctor(CLASSES["public"])
    assert {one["state"] for one in findings} == {"ok"}, findings
    assert any(f"closed to {CLASSES['public']}" in one["text"] for one in findings)
    public = two.ns.root / "public"
    planted, link = public / "letters" / "planted", public / "letters" / "out"
    planted.write_text("by hand")
    link.symlink_to(two.ns.root / "private" / "ward")
    public.chmod(0o2777)
    try:
        said = {one["text"]: one["fix"] for one in doctor(0) if one["state"] == "broken"}
    finally:
        link.unlink()
        planted.unlink()
    assert "public: letters/planted: owned by root, not 61001" in said, said
    assert any(text.startswith("public: letters/out: a symlink to") for text in said), said
    assert said["public: mode 2777, not 2755"].startswith("aifactory doctor --init-root")
    assert len(said) == 3
    assert {one["state"] for one in doctor(0, "--init-root")} == {"ok"}


def test_what_is_new_in_the_public_location_reaches_the_private_one_once(two: Two) -> None:
    def private() -> list[dict[str, Any]]:
        return [run for run in two.any.runs() if run["tags"]["dagster/code_location"] == "aifactory-private-ward"]

    before = [run["runId"] for run in private()]
    run = two.clients["public"].materialize(["public/letters/clean"])
    until(lambda: len(private()) > len(before), "the private location's run", 90)
    two.settled()
    (new,) = [one for one in private() if one["runId"] not in before]
    made = {event.asset for event in two.any.events(new["runId"])[0] if event.kind == "MaterializationEvent"}
    assert made == {"private/ward/notes/linked", "private/ward/notes/parts"}
    assert {event.asset for event in two.any.events(run)[0] if event.kind == "MaterializationEvent"} == {
        "public/letters/clean"
    }
