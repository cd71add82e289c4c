"""The spec that a RayJob hands over: its hash as an argument, its content as an immutable ConfigMap.

The run's directory holds the same, but a mount may lag behind what the launcher wrote there: each thing is waited for,
a while, and said to be waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.spec import Context, RunSpec
from aifactory.store import Journal

MOUNTED = Path("/etc/aifactory")
"""Where the pods' ConfigMap is mounted."""
LAG_SECONDS = 300.0
POLL_SECONDS = 0.5
SAY_SECONDS = 10.0
NOT_YET = frozenset({"no_spec", "edited", "attempt", "context", "no_directory", "journal"})
"""Codes of errors that a mount which lags behind gives too."""


@dataclass(frozen=True)
class Handed:
    """`hash` is the spec's (64 digits); `mounted` the directory of the ConfigMap; `seconds` how long the run's
    directory may lag; `say` is told what is waited for."""

    hash: str
    mounted: Path = MOUNTED
    seconds: float = LAG_SECONDS
    say: Callable[[str], None] = print

    def directory(self, path: Path) -> Path:
        """`path`, once it is there. FactoryError "no_directory" when it stays away."""

        def look() -> Path:
            if path.is_dir():
                return path
            raise FactoryError(
                f"{path} is not there",
                found="no directory",
                expected="the attempt's directory, which the launcher makes before the pods",
                fix="see that this mount shows what the launcher writes (`aifactory doctor <cluster>`)",
                code="no_directory",
            )

        return self._patiently(f"the directory {path.name}", look)

    def spec(self, directory: Path, attempt: int) -> RunSpec:
        """The spec of that hash, from the ConfigMap, or from the run's `directory` where there is none; the attempt's
        record must name it too.

        Raises FactoryError: "edited" for content or a record of another hash, "no_spec", "attempt" for an attempt that
        is not recorded.
        """
        mounted = self.mounted / "spec.json"
        if mounted.exists():
            spec = RunSpec.load(mounted, self.hash)
        else:
            spec = self._patiently("spec.json", lambda: RunSpec.load(directory / "spec.json", self.hash))
        recorded = self._patiently("the attempt's record", lambda: recorded_hash(directory, attempt))
        if recorded != spec.hash:
            raise FactoryError(
                f"attempt {attempt} of {directory.name} was recorded with another spec than the RayJob hands over",
                found=spec.hash,
                expected=recorded,
                fix="end this job, and launch the run again",
                code="edited",
            )
        return spec

    def context(self, directory: Path) -> Context:
        """context.json of the run's `directory`. FactoryError "context" when it stays away or can't be read."""

        def look() -> Context:
            try:
                return Context.load(directory / "context.json")
            except OSError as error:
                raise FactoryError(
                    f"{directory / 'context.json'} can't be read",
                    found=str(error),
                    fix="see that this mount shows what the launcher writes (`aifactory doctor <cluster>`)",
                    code="context",
                ) from error

        return self._patiently("context.json", look)

    def _patiently[T](self, what: str, look: Callable[[], T]) -> T:
        began = time.monotonic()
        said = began - SAY_SECONDS
        while True:
            try:
                return look()
            except FactoryError as error:
                now = time.monotonic()
                if error.code not in NOT_YET or now - began > self.seconds:
                    raise
                if now - said >= SAY_SECONDS:
                    self.say(f"{what} is not here yet: waiting for at most {self.seconds - (now - began):.0f} s more")
                    said = now
            time.sleep(POLL_SECONDS)


def recorded_hash(directory: Path, attempt: int) -> str:
    """The hash of the spec that the attempt was recorded with. FactoryError "attempt" when it was not recorded."""
    for record in Journal(directory / "attempts" / "@journal").records():
        if record.body.get("event") == "start" and record.body.get("attempt") == attempt:
            return str(record.body["spec"])
    raise FactoryError(
        f"attempt {attempt} of {directory.name} was never recorded",
        fix="start runs by `aifactory launch`, which records each attempt before it starts",
        code="attempt",
    )
