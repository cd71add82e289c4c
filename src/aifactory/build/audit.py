"""Running checks on a snapshot and recording what they found."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aifactory.channel import Audited, redacted
from aifactory.channel.safe import safe_audit
from aifactory.datasets.checks import Check, CheckResult
from aifactory.datasets.checks.registry import version_of
from aifactory.namespace import Audit, Audits, Key, Namespace, Snapshot
from aifactory.spec import CheckSpec

CODE = "@code"
"""Among an audit's parameters: which code checked, so that a changed check is asked again."""


def run_checks(
    ns: Namespace, key: str, version: str, checks: Iterable[CheckSpec], *, run: str, send: Callable[[Audited], None]
) -> dict[str, Audit]:
    """Run each check on `key@version` (published or not), record its audit, and tell it to `send`; results by name.

    A check that raises is red with the error's text. Of private data the audit holds counts, and of an error its type
    and place; what `send` gets is cut by the channel of the private run.
    """
    from aifactory.namespace import Publications

    snapshot = Publications(ns, key).snapshot(version)
    found: dict[str, Audit] = {}
    for check in checks:
        result = _run(snapshot, check)
        told = Audited(
            key=str(snapshot.key),
            version=version,
            check=check.name,
            passed=result.passed,
            blocking=check.blocking,
            counts=dict(result.counts),
            reason=result.reason,
        )
        send(told)
        shown = told if Key(snapshot.key).access == "public" else safe_audit(told)
        found[check.name] = Audit(
            check=check.name,
            passed=shown.passed,
            blocking=shown.blocking,
            counts=shown.counts,
            reason=shown.reason,
            parameters=parameters(check),
            run=run,
        )
    Audits(ns, key, version).add(*found.values())
    return found


def missing(ns: Namespace, key: str, version: str, checks: Iterable[CheckSpec]) -> list[CheckSpec]:
    """The checks of which `key@version` has no green audit with these parameters by the code that is there now."""
    latest = Audits(ns, key, version).latest()
    return [check for check in checks if not _answered(latest, check)]


def parameters(check: CheckSpec) -> dict[str, Any]:
    """What an audit keeps of how the check was asked."""
    try:
        code = version_of(check.kind)
    except Exception:
        code = "none"
    return {**check.parameters, CODE: f"{check.kind} {code}"}


def _answered(latest: Mapping[str, Audit], check: CheckSpec) -> bool:
    audit = latest.get(check.name)
    return (
        audit is not None
        and audit.passed
        and audit.blocking == check.blocking
        and audit.parameters == parameters(check)
    )


def _run(snapshot: Snapshot, spec: CheckSpec) -> CheckResult:
    try:
        return Check(spec.name, spec.kind, spec.parameters, spec.blocking).run(snapshot)
    except Exception as error:
        public = Key(snapshot.key).access == "public"
        failure = redacted(error, private=not public)
        if not public:
            traceback.print_exception(error)  # into the private run's log
        said = f": {failure.text}" if public and failure.text else f" at {failure.where}" if failure.where else ""
        return CheckResult(False, {}, f"the check raised {failure.type}{said}")
