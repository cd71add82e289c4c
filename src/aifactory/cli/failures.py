"""Errors as a person, or a machine, reads them."""

from __future__ import annotations

import json
import os
import sys

from aifactory.errors import FactoryError

FAILED, USAGE, REFUSED = 1, 2, 3
# What was typed names nothing, or is no name at all.
TYPED = frozenset(
    {
        "class_override",
        "conflicting_overrides",
        "context",
        "impossible_override",
        "key",
        "override_syntax",
        "override_value",
        "pin",
        "resume",
        "run_name",
        "second_checkout",
        "unknown_checkpoint",
        "unknown_cluster",
        "unknown_code",
        "unknown_commit",
        "unknown_image",
        "unknown_override",
        "unknown_recipe",
        "unknown_resolution",
        "unknown_run",
        "unknown_site",
        "unknown_spec",
        "unknown_target",
        "unpublished",
        "unused_override",
        "version",
        "why",
    }
)


def report(error: FactoryError, *, as_json: bool) -> int:
    """Print the error on standard error (as JSON on standard output too, if asked for); its exit code."""
    if as_json:
        print(json.dumps({"error": facts(error)}, indent=2))
    print(f"error: {error}", file=sys.stderr)
    return exit_code(error)


def unreachable(error: OSError) -> FactoryError:
    """A file of another identity, on a mount that went away, behind a loop of symlinks, ... as people read it."""
    return FactoryError(
        f"the system gives no access to {error.filename}",
        found=error.strerror,
        expected=f"a file that uid {os.geteuid()} may use",
        fix="look at its mount, its owner and its mode: `aifactory doctor` checks those of the namespace",
        code="system",
    )


def exit_code(error: FactoryError) -> int:
    """1 failed, 2 wrong usage, 3 refused."""
    if hasattr(error, "refusals"):
        return REFUSED
    return USAGE if error.code in TYPED else FAILED


def facts(error: FactoryError) -> dict[str, object]:
    """The error's parts, with every reason of a refusal."""
    found: dict[str, object] = {"code": error.code, "what": error.what}
    if hasattr(error, "refusals"):
        names = ("code", "what", "found", "expected", "fix")
        found["refusals"] = [{name: getattr(one, name) for name in names} for one in error.refusals]
    for name in ("found", "expected", "fix"):
        value = getattr(error, name)
        if value not in (None, ""):
            found[name] = str(value)
    return found
