"""Planning: keys become versions, defaults become values, and nothing is resolved twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import EvaluateTarget, GateRefused, gate, gather, plan
from aifactory.namespace import Audit, Audits, Key, Publications
from aifactory.spec import image_digest
from tests.launch.lab import Lab
from tests.launch.published import BPE, READY, RECIPE, SUITE, VOCABULARY, checkpoint, publish, publish_all


def codes(lab: Lab, planned: object, run: str = "train-tiny-1") -> list[str]:
    directory = planned.class_root / "runs" / run  # type: ignore[attr-defined]
    facts = gather(planned, run, directory, ns=lab.ns, project=lab.project)  # type: ignore[arg-type]
    return [refusal.code for refusal in gate(facts)]


def test_a_recipe_is_resolved_to_versions_vocabulary_and_image(lab: Lab) -> None:
    made = publish_all(lab.ns)
    planned = plan(RECIPE, overrides=["model.hidden=16"], requester="person:ada", project=lab.project, ns=lab.ns)
    config = planned.spec.train
    assert (config.model.vocabulary, config.model.hidden, config.model.ffn) == (VOCABULARY, 16, 64)
    assert config.open_fields() == ()
    assert {(ref.role, ref.kind, ref.key, ref.version, ref.part) for ref in planned.spec.inputs} == {
        ("mix", "dataset", READY, made[READY].version, "train"),
        ("tokenizer", "tokenizer", BPE, made[BPE].version, None),
    }
    assert planned.spec.image.digest == image_digest(lab.project, "train")
    (suite,) = planned.context.suites
    assert (suite.key, suite.version, suite.part) == (SUITE, made[SUITE].version, "test")
    assert (planned.context.recipe, planned.context.line) == ("tiny", "public/models/tiny")
    assert planned.path == lab.ns.root / "public/specs" / planned.hash / "spec.json"
    assert codes(lab, planned) == []


def test_where_when_and_by_whom_is_not_in_the_hash(lab: Lab) -> None:
    publish_all(lab.ns)
    one = plan(RECIPE, requester="ada", deadline_seconds=5, project=lab.project, ns=lab.ns)
    two = plan(RECIPE, requester="bob", cluster="elsewhere", queue="q", project=lab.project, ns=lab.ns)
    assert one.hash == two.hash
    assert codes(lab, two) == ["unknown_cluster"]
    assert codes(lab, replace(two, context=two.context.evolve({"cluster": "local"}))) == ["no_queue"]


def test_a_spec_launched_by_hash_is_what_was_frozen_whatever_is_current_now(lab: Lab) -> None:
    publish_all(lab.ns)
    frozen = plan(RECIPE, project=lab.project, ns=lab.ns)
    publish(lab.ns, SUITE, "suite", {"test/items": "other items"})
    publish(lab.ns, READY, "tokens", {"train/a.bin": "new"}, inputs={})
    again = plan(frozen.hash[:12], deadline_seconds=9, project=lab.project, ns=lab.ns)
    assert (again.hash, again.spec, again.path) == (frozen.hash, frozen.spec, frozen.path)
    assert again.context.suites == frozen.context.suites
    assert again.context.line == frozen.context.line
    assert again.context.deadline_seconds == 9


def test_inputs_that_are_not_built_are_all_named_with_the_command_that_builds_them(lab: Lab) -> None:
    with pytest.raises(GateRefused) as caught:
        plan(RECIPE, project=lab.project, ns=lab.ns)
    assert [refusal.code for refusal in caught.value.refusals] == ["input_not_built"] * 2
    for key in (READY, SUITE):
        assert f"aifactory launch {key}" in str(caught.value)
    assert not (lab.ns.root / "public/specs").exists()


def test_data_without_a_tokenizer_cannot_be_trained_on(lab: Lab) -> None:
    publish_all(lab.ns)
    publish(lab.ns, READY, "table", {"train/rows": "rows"})
    with pytest.raises(FactoryError) as caught:
        plan(RECIPE, project=lab.project, ns=lab.ns)
    assert caught.value.code == "not_tokens"


def test_a_vocabulary_that_is_not_the_tokenizers_is_refused(lab: Lab) -> None:
    publish_all(lab.ns)
    with pytest.raises(FactoryError, match="vocabulary"):
        plan(RECIPE, overrides={"model.vocabulary": 7}, project=lab.project, ns=lab.ns)


@pytest.mark.parametrize("target", ["tinny", "public/probe/nowhere", "0123456789abcdef"])
def test_an_unknown_target_is_an_error(lab: Lab, target: str) -> None:
    with pytest.raises(FactoryError) as caught:
        plan(target, project=lab.project, ns=lab.ns)
    assert caught.value.code in ("unknown_recipe", "unknown_stage", "unknown_spec")


def test_a_frozen_spec_takes_no_overrides(lab: Lab) -> None:
    publish_all(lab.ns)
    frozen = plan(RECIPE, project=lab.project, ns=lab.ns)
    with pytest.raises(FactoryError) as caught:
        plan(frozen.hash, overrides=["steps=9"], project=lab.project, ns=lab.ns)
    assert caught.value.code == "unused_override"


def test_a_check_that_turns_red_after_the_publication_closes_the_gate(lab: Lab) -> None:
    made = publish_all(lab.ns)
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    Audits(lab.ns, READY, made[READY].version).add(Audit(check="late", passed=False, blocking=False, run="r"))
    assert codes(lab, planned) == []
    Audits(lab.ns, READY, made[READY].version).add(Audit(check="integrity", passed=False, reason="3 bytes", run="r"))
    assert codes(lab, planned) == ["check_red"]
    Audits(lab.ns, READY, made[READY].version).add(Audit(check="integrity", passed=True, run="r"))
    assert codes(lab, planned) == []


def test_a_missing_file_of_an_input_closes_the_gate(lab: Lab) -> None:
    made = publish_all(lab.ns)
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    (made[READY].path / "train/a.bin").unlink()
    assert codes(lab, planned) == ["input_damaged"]


def test_a_benchmark_in_the_mix_closes_the_gate(lab: Lab) -> None:
    made = publish_all(lab.ns)
    publish(lab.ns, READY, "tokens", {"train/b.bin": "b"}, inputs={BPE: made[BPE].version}, benchmark=True)
    assert codes(lab, plan(RECIPE, project=lab.project, ns=lab.ns)) == ["benchmark"]


def test_an_evaluation_takes_the_suites_that_its_training_fixed(lab: Lab) -> None:
    made = publish_all(lab.ns)
    trained = plan(RECIPE, project=lab.project, ns=lab.ns)
    place = checkpoint(lab.ns, trained, "train-tiny-1", 3)
    publish(lab.ns, SUITE, "suite", {"test/items": "other items"})
    planned = plan(EvaluateTarget(place), project=lab.project, ns=lab.ns)
    (suite,) = planned.spec.inputs_of("suite")
    assert suite.version == made[SUITE].version
    (found,) = planned.spec.inputs_of("checkpoint")
    assert found.key == "public/models/tiny"
    assert [ref.key for ref in planned.spec.inputs_of("tokenizer")] == [BPE]
    assert planned.context.places == {"checkpoint": place}
    assert planned.label == "tiny-3"
    assert codes(lab, planned, "evaluate-tiny-1") == []
    assert plan(place, project=lab.project, ns=lab.ns).hash == planned.hash
    assert plan(planned.hash, project=lab.project, ns=lab.ns).context.places == {"checkpoint": place}


def test_a_checkpoint_that_was_altered_or_is_none_cannot_be_evaluated(lab: Lab) -> None:
    publish_all(lab.ns)
    place = checkpoint(lab.ns, plan(RECIPE, project=lab.project, ns=lab.ns), "train-tiny-1", 3)
    planned = plan(EvaluateTarget(place), project=lab.project, ns=lab.ns)
    record = lab.ns.local(place) / "checkpoint.json"
    record.write_bytes(record.read_bytes().replace(b'"step":3', b'"step":4'))
    assert codes(lab, planned, "evaluate-tiny-1") == ["input_damaged"]
    for wrong in (place, place.replace("00000003", "00000009"), "/factory/public/runs/none/checkpoints/step-00000001"):
        with pytest.raises(FactoryError) as caught:
            plan(EvaluateTarget(wrong), project=lab.project, ns=lab.ns)
        assert caught.value.code == "checkpoint"


def test_a_private_input_makes_a_private_run_and_closes_the_gate_for_a_public_output(lab: Lab) -> None:
    secret = publish(lab.ns, "private/oncology/notes", "table", {"rows": "rows"})
    planned = lab.plan("say", inputs=[("notes", "private/oncology/notes", secret.version)])
    assert planned.class_root == lab.ns.root / "private/oncology"
    assert codes(lab, planned, "build-say-1") == ["class"]


def test_an_input_whose_version_was_never_published_closes_the_gate(lab: Lab) -> None:
    publish_all(lab.ns)
    planned = lab.plan("say", inputs=[("rows", READY, "f" * 64)])
    assert codes(lab, planned, "build-say-1") == ["input_not_published"]


def test_a_version_that_is_no_longer_current_is_still_good(lab: Lab) -> None:
    made = publish_all(lab.ns)
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    publish(lab.ns, READY, "tokens", {"train/b.bin": "b"}, inputs={BPE: made[BPE].version})
    Publications(lab.ns, READY).rollback(made[READY].version, writer="ada", why="test")
    publish(lab.ns, READY, "tokens", {"train/c.bin": "c"}, inputs={BPE: made[BPE].version})
    assert codes(lab, planned) == []


def test_a_red_check_that_the_stage_had_before_this_version_was_published_does_not_close_the_gate(lab: Lab) -> None:
    publish_all(lab.ns)
    staged = publish(lab.ns, READY, "tokens", {"train/a.bin": "words"}, inputs={BPE: lab.ns.resolve(Key(BPE)).version})
    Audits(lab.ns, READY, staged.version).add(Audit(check="dropped", passed=False, run="before"))
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    assert codes(lab, planned) == ["check_red"]  # red since it was published
    publications = Publications(lab.ns, READY)
    publications.publish(
        staged.version,
        publications.number(),
        run="after",
        writer="person:ada",
        build_key="another",
        inputs={BPE: lab.ns.resolve(Key(BPE)).version},
        code_version="2",
    )
    assert codes(lab, planned, run="train-tiny-2") == []
