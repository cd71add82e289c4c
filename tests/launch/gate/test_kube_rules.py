"""The gate on a Kubernetes cluster: what it lacks or limits, from its table alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations

import pytest

from aifactory.launch import InputFact, gate
from tests.launch.kuberay.cases import cluster, example
from tests.launch.lab import Lab
from tests.launch.published import RECIPE, publish_all
from tests.launch.reasons import AWAY, FACTS, IMAGE, KUBE, on_cluster

NOTES = InputFact("mix", "dataset", "private/clinic/notes", "1" * 64, "private/clinic", published=True)
CHANGES = {
    "limits": {"most_hours": 24},
    "no_mount": {"volumes": ("private/clinic",)},
    "no_account": {"accounts": ("private/clinic",)},
    "ray_version": {"ray": "2.59.0"},
}


def test_a_shape_that_is_not_there_is_answered_with_those_that_are() -> None:
    (refusal,) = gate(replace(AWAY, pods="8xh20"))
    assert (refusal.code, refusal.expected) == ("no_shape", "8xh200, 1xh200")
    (refusal,) = gate(replace(on_cluster(shape=None), pods=None))
    assert refusal.expected == "1xh200, 8xh200, cpu-pool"
    assert "usual.train" in refusal.fix


def test_a_shape_on_the_laptop_is_refused() -> None:
    (refusal,) = gate(replace(FACTS, pods="8xh200"))
    assert (refusal.code, refusal.fix) == ("no_shape", "leave shape out")


@pytest.mark.parametrize(
    ("changes", "found", "expected"),
    [
        ({"most_gpus": 15}, "16 gpus", "at most 15"),
        ({"most_cpus": 191}, "192 cpus", "at most 191"),
        ({"most_hours": 47.5}, "48 hours", "at most 47.5"),
    ],
)
def test_more_than_one_run_may_have_is_refused(changes: dict[str, float], found: str, expected: str) -> None:
    (refusal,) = gate(on_cluster(**changes))
    assert (refusal.code, refusal.found, refusal.expected) == ("limits", found, expected)
    assert gate(on_cluster(most_gpus=16, most_cpus=192, most_hours=48)) == []
    assert gate(on_cluster(most_gpus=None, most_cpus=None)) == []


def test_each_class_that_is_read_needs_a_volume_and_only_the_run_s_own_an_account() -> None:
    private = replace(AWAY, access="private/clinic", place="private/clinic", inputs=(*AWAY.inputs, NOTES))
    assert gate(private) == []
    (refusal,) = gate(replace(private, kube=replace(KUBE, volumes=("public",))))
    assert (refusal.code, refusal.found) == ("no_mount", "private/clinic")
    assert "private/clinic/notes@1111111111111111" in refusal.what
    assert gate(replace(private, kube=replace(KUBE, accounts=("private/clinic",)))) == []
    (refusal,) = gate(replace(private, kube=replace(KUBE, accounts=("public",))))
    assert (refusal.code, refusal.expected) == ("no_account", "public")


def test_an_image_without_ray_is_not_compared() -> None:
    assert gate(replace(AWAY, image=replace(IMAGE, ray=""), kube=replace(KUBE, ray="2.1.0"))) == []


@pytest.mark.parametrize("codes", chain.from_iterable(combinations(CHANGES, size) for size in (2, 3, 4)))
def test_all_reasons_of_a_cluster_are_given_at_once(codes: tuple[str, ...]) -> None:
    changes = {name: value for code in codes for name, value in CHANGES[code].items()}
    assert [one.code for one in gate(on_cluster(**changes))] == list(codes)


def test_a_plan_for_the_example_s_cluster_says_all_that_is_missing_and_records_where_it_would_run(own_lab: Lab) -> None:
    from aifactory.launch import ask, plan

    publish_all(own_lab.ns)
    own_lab.write("clusters.toml", '[local]\nbackend = "local"\n\n' + example().replace("2.60.0", "2.59.0"))
    planned = plan(
        RECIPE, cluster="lab", queue="reserch", deadline_seconds=97 * 3600.0, project=own_lab.project, ns=own_lab.ns
    )
    assert (planned.context.shape, planned.context.site) == ("8xh200", "lab")
    refusals = {one.code: one for one in ask(planned, project=own_lab.project, ns=own_lab.ns).refusals}
    assert refusals.keys() >= {"no_queue", "limits", "ray_version", "image_not_pinned"}
    assert refusals["ray_version"].expected.startswith(cluster().ray_version)
    asked = plan(RECIPE, cluster="lab", shape="1xh200", project=own_lab.project, ns=own_lab.ns)
    assert (asked.context.shape, asked.hash) == ("1xh200", planned.hash)
    frozen = plan(planned.hash, cluster="lab", project=own_lab.project, ns=own_lab.ns)
    assert frozen.context.shape == "8xh200"


def test_an_image_is_run_again_by_the_reference_that_its_run_recorded(own_lab: Lab) -> None:
    from aifactory.launch import ask, plan

    publish_all(own_lab.ns)
    own_lab.write("clusters.toml", example())
    first = plan(RECIPE, cluster="lab", project=own_lab.project, ns=own_lab.ns)
    assert first.context.image_reference is None
    reference = f"registry.example/train@sha256:{'9' * 64}"
    own_lab.write("images.toml", f'[train]\ndigest = "{first.spec.image.digest}"\nreference = "{reference}"\n')
    run = plan(RECIPE, cluster="lab", project=own_lab.project, ns=own_lab.ns)
    assert run.context.image_reference == reference
    own_lab.write("images.toml", f'[train]\ndigest = "{"0" * 64}"\nreference = "{reference}"\n')
    codes = [
        {one.code for one in ask(one, project=own_lab.project, ns=own_lab.ns).refusals}
        for one in (run, plan(RECIPE, cluster="lab", project=own_lab.project, ns=own_lab.ns))
    ]
    assert "image_not_pinned" not in codes[0]
    assert "image_not_pinned" in codes[1]


def test_a_re_execution_keeps_what_was_asked_for_and_goes_to_the_site_of_today(
    own_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aifactory.launch import plan

    for name, value in own_lab.environment.items():
        if name.startswith("AIFACTORY_"):
            monkeypatch.setenv(name, value)
    publish_all(own_lab.ns)
    own_lab.write("clusters.toml", example())
    first = plan(RECIPE, cluster="lab", shape="1xh200", project=own_lab.project, ns=own_lab.ns)
    own_lab.write("clusters.toml", example().replace('site = "lab"', 'site = "attic"'))
    again = first.again(requester="bob", parent_run="train-tiny-1", origin="")
    assert (again.hash, again.context.shape, again.context.site) == (first.hash, "1xh200", "attic")
