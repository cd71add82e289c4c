"""What a RayJob's pods ask for in all, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation

from aifactory.launch.kuberay.observe.objects import NOTHING, Json, items, part, text

_SUFFIXES = {
    "m": Decimal("0.001"),
    **{name: Decimal(1024) ** at for at, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi"), 1)},
    **{name: Decimal(1000) ** at for at, name in enumerate(("k", "M", "G", "T", "P"), 1)},
}


def quantity(value: object) -> Decimal | None:
    """A Kubernetes quantity in units (bytes, cores, devices); None for what is none."""
    said = str(value)
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if said.endswith(suffix):
            number, factor = said[: -len(suffix)], _SUFFIXES[suffix]
            break
    else:
        number, factor = said, Decimal(1)
    try:
        found = Decimal(number) * factor
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def told(resource: str, value: Decimal) -> str:
    """`4 cpu`, `300m cpu`, `12 GiB memory`, `8 nvidia.com/gpu`."""
    if resource in ("memory", "ephemeral-storage"):
        unit, name = (Decimal(1024) ** 3, "GiB") if value >= 1024**3 else (Decimal(1024) ** 2, "MiB")
        return f"{_short(value / unit)} {name} {resource}"
    if resource == "cpu" and value % 1:
        return f"{int(value * 1000)}m cpu"
    return f"{_short(value)} {resource}"


def template_of(rayjob: Json | None, which: str) -> Json:
    """The pod template of the `head`, or of the first of the `workers`."""
    spec = part(rayjob, "spec", "rayClusterSpec")
    if which == "head":
        return part(spec, "headGroupSpec", "template")
    return next((part(group, "template") for group in items(spec, "workerGroupSpecs")), NOTHING)


def asked(rayjob: Json | None) -> dict[str, Decimal]:
    """By resource, over the head and all workers, as requested."""
    found: dict[str, Decimal] = {}
    for template, count in _templates(part(rayjob, "spec", "rayClusterSpec")):
        for container in items(template, "spec", "containers"):
            requests: Mapping[str, object] = part(container, "resources", "requests")
            for name, value in requests.items():
                found[name] = found.get(name, Decimal(0)) + count * (quantity(value) or Decimal(0))
    return found


def pods_asked(rayjob: Json | None) -> int:
    """How many pods the Ray cluster has when it is whole."""
    return sum(count for _, count in _templates(part(rayjob, "spec", "rayClusterSpec")))


def workers_asked(rayjob: Json | None) -> int:
    """How many of them work."""
    return pods_asked(rayjob) - (1 if template_of(rayjob, "head") else 0)


def in_words(resources: Mapping[str, Decimal]) -> str:
    """Devices first, then cpu and memory; "" for nothing."""
    order = sorted(resources, key=lambda name: (name in ("cpu", "memory"), name))
    return ", ".join(told(name, resources[name]) for name in order if resources[name])


def _templates(spec: Json) -> Iterator[tuple[Json, int]]:
    if head := part(spec, "headGroupSpec", "template"):
        yield head, 1
    for group in items(spec, "workerGroupSpecs"):
        replicas = group.get("replicas", 1)
        yield part(group, "template"), replicas if isinstance(replicas, int) else 1


def _short(value: Decimal) -> str:
    return f"{value.quantize(Decimal('0.1')):f}".removesuffix(".0") if value % 1 else f"{int(value)}"


def limit_of(spec: Json, container: str) -> str:
    """The memory limit of a container of a pod's spec as it is written, "" if it has none."""
    every = [*items(spec, "containers"), *items(spec, "initContainers")]
    one = next((one for one in every if one.get("name") == container), {})
    return text(one, "resources", "limits", "memory")
