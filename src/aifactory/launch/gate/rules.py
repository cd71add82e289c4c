"""The gate: a pure function from gathered facts to every reason not to launch."""

from __future__ import annotations

import re

from aifactory.launch.clusters.registry import unknown_place
from aifactory.launch.gate.facts import Facts, ImageFact
from aifactory.launch.gate.input_rules import mismatch, of_input
from aifactory.launch.gate.kube_rules import of_kube
from aifactory.launch.gate.site_rules import of_site
from aifactory.launch.refusal import Refusal
from aifactory.namespace.access import flows, of_key

PINNED = re.compile(r"@(sha256:[0-9a-f]{64})$")


def gate(facts: Facts) -> list[Refusal]:
    """Every reason not to launch, in a fixed order; none: launch. Never asks whether a version is still current."""
    return [
        *_run(facts),
        *_image(facts),
        *(_off_the_laptop(facts) if facts.leaves else ()),
        *_cluster(facts),
        *of_kube(facts),
        *of_site(facts),
        *_class(facts),
        *(refusal for one in facts.inputs for refusal in of_input(facts, one)),
    ]


def _run(facts: Facts) -> list[Refusal]:
    if facts.owner is None:
        return []
    return [
        Refusal(
            "run_owned",
            f"the run {facts.run} belongs to another spec",
            found=facts.owner,
            expected=facts.spec,
            fix="launch under another name, or leave the name out",
        )
    ]


def _class(facts: Facts) -> list[Refusal]:
    """A training may not name suites that its line can't hold, and a run's whole directory has its output's class."""
    read = {one.key for one in facts.inputs}
    suites = [(key, of_key(key)) for key in facts.suites if key not in read]
    found = [mismatch(facts, key, one) for key, one in suites if not flows(one, facts.access, facts.grants)]
    held = all(flows(one.access, facts.access, facts.grants) for one in facts.inputs)
    if held and not found and facts.place and facts.place != facts.access:
        found.append(
            Refusal(
                "class",
                f"{facts.output} is {facts.access}, and the directory of its run would not be",
                found=f"{facts.place}/runs/{facts.run}",
                expected=f"{facts.access}/runs/{facts.run}",
                fix="plan it anew: it was frozen under other grants than those in force now",
            )
        )
    return found


def _image(facts: Facts) -> list[Refusal]:
    image = facts.image
    if not image.available:
        return [
            Refusal(
                "image_gone",
                "the image of this spec is not on this machine, and the checkout makes another",
                found="no copy",
                expected=image.digest,
                fix=image.rebuild,
            )
        ]
    if facts.schema and image.schema and facts.schema != image.schema:
        return [
            Refusal(
                "config_schema",
                f"the image {image.name} {image.digest[:16]} would read this spec differently than what resolved it",
                found=image.schema,
                expected=facts.schema,
                fix="plan it anew with the code that the image holds: reload the code location (or start the command "
                "again), then launch",
            )
        ]
    return []


def _off_the_laptop(facts: Facts) -> list[Refusal]:
    found = []
    if facts.dirty is not None or facts.commit is None:
        found.append(
            Refusal(
                "dirty",
                f"only what git has can run on {facts.cluster}",
                found=f"uncommitted changes, diff {facts.dirty}" if facts.dirty else "no commit is known",
                expected=f"a clean tree at {facts.commit}" if facts.commit else "a checkout with a commit",
                fix="commit the changes and plan anew, or launch on `local`",
            )
        )
    image = facts.image
    oci = PINNED.search(image.reference)
    if image.pinned != image.digest or oci is None:
        found.append(
            Refusal(
                "image_not_pinned",
                f"images.toml pins no image for {image.name} {image.digest[:16]}",
                found=_entry(image),
                expected=f'digest = "{image.digest}", reference = "<repository>@sha256:<64 digits>"',
                fix=f"push the image of this commit and write its digests under [{image.name}] in images.toml",
            )
        )
    elif facts.kind != "smoke" and oci[1] not in image.proofs:
        found.append(
            Refusal(
                "image_unverified",
                f"no run has verified the image {image.name} {image.digest[:16]} on {facts.cluster}",
                found=f"verified as {', '.join(image.proofs)}" if image.proofs else "no verification",
                expected=f"one of {oci[1]}",
                fix=f"run `aifactory smoke --cluster {facts.cluster}`, or wait for tonight's",
            )
        )
    return found


def _entry(image: ImageFact) -> str:
    if not image.pinned:
        return "no entry"
    if image.pinned != image.digest:
        return f"an entry for {image.pinned}"
    return f"{image.reference or 'no reference'}, which may move"


def _cluster(facts: Facts) -> list[Refusal]:
    known = (
        ("queue", facts.queue, facts.queues),
        ("priority", facts.priority, facts.priorities),
        ("shape", facts.pods, facts.shapes),
    )
    return unknown_place(facts.cluster, facts.clusters, known)
