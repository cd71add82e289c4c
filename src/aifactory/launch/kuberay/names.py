"""Names of an attempt's objects: a pure function of (run, attempt)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aifactory.errors import FactoryError
from aifactory.launch.runs.names import job_name

LONGEST = 47
"""KubeRay's own limit for a RayJob; a longer one is taken by the API server and then queues for ever."""
DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


@dataclass(frozen=True)
class Names:
    """Of one attempt."""

    run: str
    attempt: int

    def __post_init__(self) -> None:
        if len(self.job) > LONGEST or not DNS_1035.fullmatch(self.job) or self.attempt < 1:
            raise FactoryError(
                f"{self.job!r} can't name a RayJob",
                found=f"{len(self.job)} characters",
                expected=f"at most {LONGEST} of a-z, 0-9 and '-', from a letter on",
                fix="launch under a shorter name, or leave the name out",
                code="name",
            )

    @property
    def job(self) -> str:
        return job_name(self.run, self.attempt)

    @property
    def token(self) -> str:
        """The Secret with the Ray cluster's token."""
        return f"{self.job}-token"

    @property
    def spec(self) -> str:
        """The ConfigMap with the spec."""
        return f"{self.job}-spec"
