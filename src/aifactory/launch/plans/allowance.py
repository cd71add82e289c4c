"""Overriding the gate: which refusals a person may allow, by their codes and with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aifactory.errors import FactoryError
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.refusal import Refusal

ALLOWABLE = frozenset(
    {
        "benchmark",
        "check_elsewhere",
        "check_missing",
        "check_red",
        "config_schema",
        "dirty",
        "image_not_pinned",
        "image_unverified",
        "shape",
        "site_unseen",
    }
)
IMPOSSIBLE = frozenset(
    {
        "data_absent",
        "data_stale",
        "image_gone",
        "input_damaged",
        "input_not_built",
        "input_not_published",
        "limits",
        "no_account",
        "no_mount",
        "no_priority",
        "no_queue",
        "no_shape",
        "ray_version",
        "run_owned",
        "unknown_cluster",
        "unknown_site",
    }
)
"""Refusals of what could not run at all, whoever allowed it."""

CLASS = "class"


def allowance(codes: Iterable[str], why: str) -> tuple[str, ...]:
    """The codes in order, each once, if they may be allowed for this reason.

    Raises FactoryError: "class_override" for a refused class, "impossible_override", "unknown_code", and "why" for
    codes without a reason or a reason without codes.
    """
    found = tuple(sorted(set(codes)))
    if CLASS in found:
        raise FactoryError(
            "a refused class can't be overridden: no reason makes private data public, or another project's",
            found=f"allow {CLASS}",
            expected="inputs whose class flows into the output's",
            fix="leave it out; pass the data through the restricted zone's crossing, or write a grant",
            code="class_override",
        )
    for code in found:
        if code in IMPOSSIBLE:
            raise FactoryError(
                f"the refusal {code} can't be overridden: nothing could run",
                found=f"allow {code}",
                expected=", ".join(sorted(ALLOWABLE)),
                fix="follow the fix that the refusal names",
                code="impossible_override",
            )
        if code not in ALLOWABLE:
            raise FactoryError(
                f"the gate has no refusal {code!r}",
                found=code,
                expected=close_matches(code, sorted(ALLOWABLE)),
                fix="name the code that stands before the refusal, in brackets",
                code="unknown_code",
            )
    if bool(found) != bool(why.strip()):
        raise FactoryError(
            "an override names codes and a reason",
            found=f"allow {', '.join(found) or 'nothing'}, {'no reason' if found else f'why {why!r}'}",
            expected="both",
            fix='for example --allow check_red --why "the check is wrong for this source, see the issue about it"',
            code="why",
        )
    return found


def split(refusals: Sequence[Refusal], allowed: Iterable[str]) -> tuple[list[Refusal], list[Refusal]]:
    """Refusals that stand, and those that were allowed by their code."""
    able = set(allowed) & ALLOWABLE
    return [one for one in refusals if one.code not in able], [one for one in refusals if one.code in able]
