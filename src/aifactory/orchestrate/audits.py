"""What the namespace holds about checks, as it may be shown."""

from __future__ import annotations

from aifactory.channel import Audited
from aifactory.channel.safe import safe_audit
from aifactory.namespace import Audits, Key, Namespace


def recorded(ns: Namespace, key: Key, version: str) -> dict[str, Audited]:
    """The newest audit of each check of a version; of private data their counts, whatever an image wrote as reason."""
    found = {
        name: Audited(
            key=str(key),
            version=version,
            check=name,
            passed=audit.passed,
            blocking=audit.blocking,
            counts=dict(audit.counts),
            reason=audit.reason,
        )
        for name, audit in Audits(ns, key, version).latest().items()
    }
    return found if key.access == "public" else {name: safe_audit(audit) for name, audit in found.items()}
