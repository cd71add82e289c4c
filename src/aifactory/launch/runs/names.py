"""Names of runs: what Kubernetes, a file system and a person can all read."""

from __future__ import annotations

import hashlib
import re
import uuid

RUN_NAME = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")


def run_name(kind: str, label: str, origin: str | None = None) -> str:
    """`<kind>-<at most 16 characters of label>-<12 hex>`, a DNS-1035 label of at most 40 characters.

    The hex is a hash of `origin` (the Dagster run and step that asked), so that whoever comes back finds his run; of
    a fresh UUID where there is none.
    """
    short = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:16].strip("-") or "run"
    seed = origin if origin is not None else uuid.uuid4().hex
    return f"{kind}-{short}-{hashlib.sha256(seed.encode()).hexdigest()[:12]}"


def job_name(run: str, attempt: int) -> str:
    """The name of an attempt at the backend: a pure function of the run and the attempt."""
    return f"{run}-{attempt}"


def attempt_name(attempt: int) -> str:
    """The directory of an attempt under `attempts/`: eight digits."""
    return f"{attempt:08d}"
