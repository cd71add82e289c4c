"""What is gathered for the gate: real images, journals and checkpoints."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import GateRefused, ask, ensure_image, launch, list_images, plan
from aifactory.launch.images.pinned import load_pinned
from aifactory.launch.images.verifications import Verification, record, verifications
from aifactory.namespace import Audit, Audits
from aifactory.spec import InputRef, config_schema
from aifactory.store import Journal
from tests.launch.lab import Lab
from tests.launch.published import READY, RECIPE, checkpoint, publish, publish_all

OCI = "sha256:" + "9" * 64


def codes(lab: Lab, planned: object) -> list[str]:
    return [one.code for one in ask(planned, project=lab.project, ns=lab.ns).refusals]  # type: ignore[arg-type]


def test_an_image_carries_the_digest_of_the_config_types_that_its_code_has(lab: Lab) -> None:
    (image,) = [one for one in list_images(lab.project) if one.digest == lab.image.digest]
    assert image.config_schema == config_schema()


def test_a_spec_that_its_image_would_read_differently_is_refused(own_lab: Lab) -> None:
    planned = own_lab.plan("say", context={"config_schema": config_schema()})
    assert codes(own_lab, planned) == []
    path = own_lab.project.package / "spec" / "optimizer.py"
    name = next(line.split(":")[0].strip() for line in path.read_text().splitlines() if "Real" in line and ":" in line)
    path.write_text(path.read_text().replace(f"    {name}:", f"    re{name}:", 1))
    own_lab.remake()
    later = own_lab.plan("say", context={"config_schema": config_schema()})
    with pytest.raises(GateRefused) as caught:
        launch(later, run="build-say-1", project=own_lab.project, ns=own_lab.ns)
    (refusal,) = caught.value.refusals
    assert (refusal.code, refusal.expected) == ("config_schema", config_schema())
    assert refusal.found != refusal.expected
    assert codes(own_lab, planned) == []  # its own, older image still reads it as it was meant


def test_a_plan_records_the_config_types_that_resolved_it(lab: Lab) -> None:
    publish_all(lab.ns)
    assert plan(RECIPE, project=lab.project, ns=lab.ns).context.config_schema == config_schema()


def test_a_check_that_was_audited_on_another_version_only_is_refused_naming_it(lab: Lab) -> None:
    old = publish(lab.ns, READY, "table", {"rows": "old"})
    Audits(lab.ns, READY, old.version).add(Audit(check="unique", passed=True, run="r"))
    new = publish(lab.ns, READY, "table", {"rows": "new"}, checks={"unique": True})
    for file in (lab.ns.directory(READY) / "@audits" / new.version[:16]).iterdir():
        file.unlink()
    answer = ask(lab.plan("say", inputs=[("rows", READY, new.version)]), project=lab.project, ns=lab.ns)
    assert [(one.code, one.found) for one in answer.refusals] == [("check_elsewhere", f"{READY}@{old.version[:16]}")]


def test_a_check_added_later_gates_only_once_it_is_red(lab: Lab) -> None:
    rows = publish(lab.ns, READY, "table", {"rows": "rows"}, checks={"unique": True})
    planned = lab.plan("say", inputs=[("rows", READY, rows.version)])
    audits = Audits(lab.ns, READY, rows.version)
    assert codes(lab, planned) == []  # the check is declared by now, and nobody has asked it about this version
    audits.add(Audit(check="added", passed=True, run="r"))
    assert codes(lab, planned) == []
    audits.add(Audit(check="added", passed=False, run="r"))
    assert codes(lab, planned) == ["check_red"]


def test_a_refusal_stands_for_its_run_after_its_reason_is_mended_and_another_run_passes(lab: Lab) -> None:
    rows = publish(lab.ns, READY, "table", {"rows": "rows"}, checks={"unique": True})
    audits = Audits(lab.ns, READY, rows.version)
    audits.add(Audit(check="unique", passed=False, run="r"))
    planned = lab.plan("say", inputs=[("rows", READY, rows.version)])
    for passed in (False, True):
        audits.add(Audit(check="unique", passed=passed, run="r"))
        with pytest.raises(GateRefused, match="check_red"):
            launch(planned, run="build-say-1", project=lab.project, ns=lab.ns)
    assert launch(planned, run="build-say-2", project=lab.project, ns=lab.ns).succeeded


def test_a_launch_by_hash_is_asked_about_the_checks_of_today(lab: Lab) -> None:
    publish_all(lab.ns)
    frozen = plan(RECIPE, project=lab.project, ns=lab.ns)
    version = next(ref.version for ref in frozen.spec.inputs if ref.key == READY)
    publish(lab.ns, READY, "tokens", {"train/a.bin": "new"}, inputs={})
    again = plan(frozen.hash, project=lab.project, ns=lab.ns)
    assert (again.hash, codes(lab, again)) == (frozen.hash, [])
    Audits(lab.ns, READY, version).add(Audit(check="integrity", passed=False, run="r"))
    assert codes(lab, again) == ["check_red"]


def test_the_shape_in_a_checkpoint_is_that_of_the_training_that_wrote_it(lab: Lab) -> None:
    publish_all(lab.ns)
    place = checkpoint(lab.ns, plan(RECIPE, project=lab.project, ns=lab.ns), "train-tiny-1", 3)
    digest = plan(place, project=lab.project, ns=lab.ns).spec.input("checkpoint").version
    ref = InputRef(role="resume", kind="checkpoint", key="public/models/tiny", version=digest)
    for overrides, found in (({}, []), ({"model.context": 8}, []), ({"model.hidden": 16}, ["shape"])):
        planned = plan(RECIPE, overrides=overrides, project=lab.project, ns=lab.ns)
        spec = planned.spec.evolve({"inputs": (*planned.spec.inputs, ref)})
        assert (
            codes(lab, replace(planned, spec=spec, context=planned.context.evolve({"places": {"resume": place}})))
            == found
        )


def test_the_journals_of_images_are_read_from_the_class_roots_that_are_named(lab: Lab) -> None:
    one = Verification(lab.image.digest, OCI, "smoke-nightly-1", "gpu-east")
    record(lab.ns, "public", "data", one)
    record(lab.ns, "private/oncology", "data", replace(one, run="smoke-nightly-2"))
    assert [found.run for found in verifications(lab.ns, "data")] == ["smoke-nightly-1"]
    both = verifications(lab.ns, "data", ("public", "private/oncology"))
    assert [found.run for found in both] == ["smoke-nightly-1", "smoke-nightly-2"]
    assert all(found.at for found in both)
    (listed,) = [found for found in list_images(lab.project, lab.ns) if found.digest == lab.image.digest]
    assert [found.where for found in listed.verified] == ["gpu-east", "gpu-east"]
    Journal(lab.ns.class_root("public") / "images" / "data").append({"other": 1}, writer="test")
    with pytest.raises(FactoryError, match="no verification"):
        verifications(lab.ns, "data")


def test_a_listing_names_the_specs_and_runs_of_an_image(lab: Lab) -> None:
    planned = lab.plan("say")
    launch(planned, run="build-say-1", project=lab.project, ns=lab.ns)
    (image,) = [one for one in list_images(lab.project, lab.ns) if one.digest == lab.image.digest]
    assert (image.specs, image.runs) == ((planned.hash,), ("build-say-1",))
    assert image.environment.startswith("data-")
    assert image.size > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[train", "not TOML"),
        ("[control]\n", "no image control"),
        ('[train]\ndigest = "x"\n', "digest"),
        (f'[train]\ndigest = "{"0" * 64}"\n', "reference"),
        ("train = 1\n", "the table"),
    ],
)
def test_a_wrong_list_of_images_is_an_error_that_names_the_table(own_lab: Lab, text: str, said: str) -> None:
    own_lab.write("images.toml", text)
    with pytest.raises(FactoryError) as caught:
        load_pinned(own_lab.project)
    assert caught.value.code == "images"
    assert said in str(caught.value)


def test_images_that_clusters_run_are_named_in_a_file_that_makes_no_image(own_lab: Lab) -> None:
    assert load_pinned(own_lab.project) == {}
    digest = ensure_image(own_lab.project, "data").digest
    own_lab.write("images.toml", f'[data]\ndigest = "{digest}"\nreference = "registry.example/data@{OCI}"\n')
    assert load_pinned(own_lab.project)["data"].digest == digest == ensure_image(own_lab.project, "data").digest
