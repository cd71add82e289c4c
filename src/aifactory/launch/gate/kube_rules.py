"""The gate's reasons that lie in a Kubernetes cluster: what its table of `clusters.toml` lacks or limits."""

from __future__ import annotations

from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.gate.facts import Facts, KubeFact
from aifactory.launch.refusal import Refusal

FILE = "clusters.toml"


def of_kube(facts: Facts) -> list[Refusal]:
    """Every reason not to launch there; none for another kind of cluster."""
    kube = facts.kube
    if kube is None:
        return []
    return [*_shape(facts, kube), *_limits(facts, kube), *_classes(facts, kube), *_ray(facts, kube)]


def _shape(facts: Facts, kube: KubeFact) -> list[Refusal]:
    """One that is named and not there is refused with the queue and the priority."""
    if kube.shape is not None:
        return []
    return [
        Refusal(
            "no_shape",
            f"the cluster {facts.cluster} has no usual shape for a run of kind {facts.kind}",
            found="none is asked for, and none is usual",
            expected=close_matches("", list(facts.shapes)),
            fix=f"name one (--shape), or add usual.{facts.kind} to [{facts.cluster}] of {FILE}",
        )
    ]


def _limits(facts: Facts, kube: KubeFact) -> list[Refusal]:
    asked = (
        ("gpus", kube.gpus, kube.most_gpus, f"ask for a smaller shape than {kube.shape}"),
        ("cpus", kube.cpus, kube.most_cpus, f"ask for a smaller shape than {kube.shape}"),
        ("hours", kube.hours, kube.most_hours, "ask for a shorter deadline"),
    )
    return [
        Refusal(
            "limits",
            f"the cluster {facts.cluster} lets no run have {value:g} {what}",
            found=f"{value:g} {what}",
            expected=f"at most {most:g}",
            fix=f"{instead}, or raise limits.{what} of [{facts.cluster}] in {FILE}",
        )
        for what, value, most, instead in asked
        if most is not None and value > most
    ]


def _classes(facts: Facts, kube: KubeFact) -> list[Refusal]:
    """What pods must mount: what is read, by class, and the run's own directory, whose class has an account."""
    needed: dict[str, str] = {}
    for one in facts.inputs:
        needed.setdefault(one.access, one.name)
    own = facts.place or facts.access
    needed.setdefault(own, f"the directory of {facts.run}")
    found = [
        Refusal(
            "no_mount",
            f"the cluster {facts.cluster} mounts nothing of {access}, and {name} is needed",
            found=access,
            expected=close_matches(access, list(kube.volumes)),
            fix=f"add {access} to [{facts.cluster}.volumes] of {FILE}, or launch elsewhere",
        )
        for access, name in sorted(needed.items())
        if access not in kube.volumes
    ]
    if own not in kube.accounts:
        found.append(
            Refusal(
                "no_account",
                f"the cluster {facts.cluster} has no service account for {own}, and the run is {own}",
                found=own,
                expected=close_matches(own, list(kube.accounts)),
                fix=f"add {own} to [{facts.cluster}.accounts] of {FILE}, or launch elsewhere",
            )
        )
    return found


def _ray(facts: Facts, kube: KubeFact) -> list[Refusal]:
    """KubeRay decides by the version what it does to a Ray cluster. An image without Ray says nothing here."""
    if not facts.image.ray or facts.image.ray == kube.ray:
        return []
    return [
        Refusal(
            "ray_version",
            f"the cluster {facts.cluster} is said to run another Ray than the image {facts.image.name} "
            f"{facts.image.digest[:16]}",
            found=f'ray_version = "{kube.ray}"',
            expected=f"{facts.image.ray}, as the image's lock has it",
            fix=f'write ray_version = "{facts.image.ray}" under [{facts.cluster}] in {FILE}, or launch another image',
        )
    ]
