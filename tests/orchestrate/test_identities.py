"""Two identities as real users of the machine: what each reads, writes and builds."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from aifactory.namespace import Namespace, Publications
from aifactory.namespace.identities import Identity
from aifactory.namespace.trees import lay_out, look
from tests.definitions.ward import ward
from tests.orchestrate.lab import CHECKOUT
from tests.orchestrate.users import PUBLIC, STRANGER, WARD, Users, root_only, users

CLASSES = {"public": PUBLIC, "private/ward": WARD, "private/other": STRANGER}
BUILD = """
import dagster as dg, sys
sys.path.insert(0, {checkout!r})
import definitions
names = sys.argv[1:]
job = definitions.defs.resolve_implicit_global_asset_job_def()
keys = [dg.AssetKey(name.split("/")) for name in names]
done = job.execute_in_process(instance=dg.DagsterInstance.ephemeral(), asset_selection=keys, raise_on_error=False)
print([str(event.step_failure_data.error) for event in done.all_events if event.is_step_failure])
sys.exit(0 if done.success else 1)
""".replace("{checkout!r}", repr(str(CHECKOUT)))


class Two:
    """A lab whose trees are laid out for two users and a stranger."""

    def __init__(self, users: Users, monkeypatch: pytest.MonkeyPatch):
        self.users = users
        self.lab = ward(users.base / "lab", monkeypatch)
        self.ns = Namespace(users.base / "lab" / "namespace")
        self.owners = {of: Identity(of, uid, uid) for of, uid in CLASSES.items()}
        lay_out(self.ns.root, self.owners.values())
        self.states = {of: users.folder(f"state-{uid}", uid) for of, uid in CLASSES.items()}

    def environment(self, of: str) -> dict[str, str]:
        return {
            "AIFACTORY_PROJECT": str(self.lab.root),
            "AIFACTORY_STATE": str(self.states[of]),
            "AIFACTORY_ROOT": str(self.ns.root),
            "AIFACTORY_LOAD": of,
        }

    def build(self, of: str, *keys: str, load: str | None = None) -> tuple[int, str]:
        environment = self.environment(of) | {"AIFACTORY_LOAD": load or of}
        done = self.users.run(CLASSES[of], "-c", BUILD, *keys, **environment)
        return done.returncode, done.stdout + done.stderr

    def tries(self, of: str, code: str) -> str:
        """What a line of Python as this identity ends in."""
        done = self.users.run(CLASSES[of], "-c", code, **self.environment(of))
        return (done.stdout + done.stderr).strip().rpartition("\n")[2]


@pytest.fixture(scope="module")
def two() -> Iterator[Two]:
    root_only()
    with users() as found, pytest.MonkeyPatch.context() as monkeypatch:
        two = Two(found, monkeypatch)
        assert two.build("public", "public/letters/raw", "public/letters/clean")[0] == 0
        yield two


def test_each_identity_builds_its_class_and_the_private_one_reads_public(two: Two) -> None:
    code, said = two.build("private/ward", "private/ward/notes/linked")
    assert code == 0, said
    for key, uid in (("public/letters/clean", PUBLIC), ("private/ward/notes/linked", WARD)):
        snapshot = two.ns.resolve(key)
        assert {path.stat().st_uid for path in [snapshot.path, *snapshot.path.rglob("*")]} == {uid}
        assert snapshot.manifest.rows == 26
        (published,) = Publications(two.ns, key).all()
        of = "/".join(key.split("/")[: 1 if key.startswith("public") else 2])
        assert published.writer == f"pipeline/{of}@{uid} for person:dagster"


def test_everything_that_the_builds_left_is_as_the_doctor_wants_it(two: Two) -> None:
    said = list(look(two.ns.root, two.owners, ()))
    assert [one.fix for one in said] == ["", "", ""], said


@pytest.mark.parametrize(
    ("of", "code"),
    [
        ("public", "import os; os.listdir({root!r} + '/private/ward')"),
        ("public", "open({root!r} + '/private/ward/notes/linked/@journal/00000001.json')"),
        ("public", "open({root!r} + '/private/ward/planted', 'w')"),
        ("public", "open({root!r} + '/planted', 'w')"),
        ("public", "import os; os.mkdir({root!r} + '/private/planted')"),
        ("private/ward", "open({root!r} + '/public/planted', 'w')"),
        ("private/ward", "import os; os.listdir({root!r} + '/private/other')"),
        ("private/ward", "import os; os.rename({root!r} + '/private/ward', {root!r} + '/public/ward')"),
    ],
)
def test_what_is_another_identitys_is_refused_by_the_machine(two: Two, of: str, code: str) -> None:
    assert two.tries(of, code.replace("{root!r}", repr(str(two.ns.root)))).startswith("PermissionError")


def test_a_private_key_that_is_not_there_for_a_user_is_no_error_but_not_there(two: Two) -> None:
    code = (
        "from aifactory.namespace import Namespace; from aifactory.launch import runs; ns = Namespace.open();"
        "print(sorted({key.access for key in ns.keys()} | {run.run[:5] for run in runs(ns)}))"
    )
    assert two.tries("public", code) == "['build', 'public']"


@pytest.mark.parametrize(
    ("of", "key"), [("public", "private/ward/notes/linked"), ("private/ward", "public/letters/raw")]
)
def test_an_identity_that_loads_another_class_builds_nothing_of_it(two: Two, of: str, key: str) -> None:
    """What holds it is the machine, not the variable."""
    before = len(two.ns.keys())
    code, said = two.build(of, key, load=key.partition("/letters")[0].partition("/notes")[0])
    assert code != 0
    assert "can't write" in said or "Permission denied" in said, said
    assert f"uid {CLASSES[of]} may write" in said or "Permission denied" in said
    assert len(two.ns.keys()) == before


def test_the_doctor_is_green_for_an_identity_and_names_what_is_wrong(two: Two) -> None:
    lines = "".join(f'"{of}" = {{ user = {uid}, group = {uid} }}\n' for of, uid in CLASSES.items())
    (two.lab.root / "pyproject.toml").write_text(f"[tool.aifactory.identities]\n{lines}")

    def doctor(uid: int, of: str, *options: str) -> tuple[int, list[dict[str, str]]]:
        done = two.users.run(uid, "-m", "aifactory.cli", "doctor", "--json", *options, **two.environment(of))
        return done.returncode, json.loads(done.stdout)["findings"]

    code, findings = doctor(PUBLIC, "public")
    trees = [one for one in findings if one["name"] in ("root", "identities", "tree")]
    assert {one["state"] for one in trees} == {"ok"}, trees
    assert any("closed to 61001" in one["text"] for one in trees)
    planted = two.ns.root / "public" / "letters" / "planted"
    planted.write_text("by hand")
    out = two.ns.root / "public" / "letters" / "out"
    out.symlink_to(two.ns.root / "private" / "ward")
    two.ns.root.joinpath("public").chmod(0o2777)
    try:
        code, findings = doctor(0, "public")
        assert code == 1
        said = {one["text"]: one["fix"] for one in findings if one["state"] == "broken"}
        assert any("planted: owned by root, not 61001" in text for text in said), said
        assert any("out: a symlink to" in text for text in said), said
        assert said["public: mode 2777, not 2755"].startswith("aifactory doctor --init-root")
    finally:
        out.unlink()
        planted.unlink()
    code, findings = doctor(0, "public", "--init-root")
    assert not [one for one in findings if one["name"] == "tree" and one["state"] != "ok"]
