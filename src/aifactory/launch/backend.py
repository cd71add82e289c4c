"""What a launch needs of the place where attempts run; `local` is this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from aifactory.channel import Process
from aifactory.channel.payloads import Failure
from aifactory.launch.images.copies import LocalImage, ensure_image
from aifactory.launch.local import spawn
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.attempts import LOCAL, Attempt
from aifactory.launch.runs.carrier import Carrier
from aifactory.launch.runs.processes import Processes
from aifactory.launch.runs.result import Signal
from aifactory.launch.runs.retries import Retries
from aifactory.launch.runs.session import end
from aifactory.namespace import Namespace
from aifactory.project import Project

PATIENCE_SECONDS = 3.0


class Interrupted(Exception):
    """The caller said stop or detach before there was an attempt; `signal` is which."""

    def __init__(self, signal: Signal):
        super().__init__(signal)
        self.signal = signal


class Backend(Protocol):
    """Attempts of one run at one place.

    `prepare` makes what attempts need and comes before `create`, which starts one that was just recorded. `adopt` finds
    one that somebody has recorded, and starts it if he died before he could. `stop` is asked while they wait:
    Interrupted as soon as it says so. `clear` ends what an attempt has left that ended while nobody watched. `again`:
    whether another attempt may go better than one that ended by this.
    """

    @property
    def name(self) -> str: ...

    @property
    def retries(self) -> Retries: ...

    def prepare(self, stop: Callable[[], Signal]) -> None: ...

    def create(self, attempt: Attempt, path: Path, stop: Callable[[], Signal]) -> Carrier: ...

    def adopt(self, attempt: Attempt, path: Path, stop: Callable[[], Signal]) -> Carrier: ...

    def clear(self, attempt: Attempt, path: Path) -> None: ...

    def again(self, error: Failure | None) -> bool: ...


class Local:
    """Attempts of one run as processes of this machine."""

    name = LOCAL
    retries = Retries()

    def __init__(
        self,
        plan: Plan,
        directory: Path,
        *,
        ns: Namespace,
        project: Project,
        say: Callable[[str], None],
        private: bool = False,
    ):
        self._plan, self._directory, self._ns, self._project, self._say = plan, directory, ns, project, say
        self._private = private
        self._image: LocalImage | None = None

    def prepare(self, stop: Callable[[], Signal]) -> None:
        """Make the image and its environment, which may take minutes the first time. Raises Interrupted as soon as
        `stop` says so, and what `ensure_image` raises."""
        failed: list[BaseException] = []
        said: list[str] = []

        def make() -> None:
            image = self._plan.spec.image
            try:
                self._image = ensure_image(self._project, image.name, image.digest, say=said.append)
            except BaseException as error:
                failed.append(error)

        worker = threading.Thread(target=make, daemon=True, name="image")
        worker.start()
        while worker.is_alive():
            worker.join(0.1)
            while said:
                self._say(said.pop(0))
            # Asked after the last wait too: nothing may start once the caller has said stop.
            if (signal := stop()) != "run":
                raise Interrupted(signal)
        if failed:
            raise failed[0]

    def create(self, attempt: Attempt, path: Path, stop: Callable[[], Signal]) -> Processes:
        """Start the entrypoint. `prepare` comes first."""
        if self._image is None:
            self.prepare(stop)
        if self._image is None:
            raise RuntimeError("prepare() made no image")
        child = spawn(
            self._directory,
            attempt.number,
            path,
            kind=self._plan.kind,
            image=self._image,
            roots=self._ns.variable,
            project=self._project,
        )
        return Processes(path, attempt, child=child, private=self._private)

    def adopt(self, attempt: Attempt, path: Path, stop: Callable[[], Signal]) -> Processes:
        """If the attempt has no process, whoever recorded it may have died before he started one, so start one: only
        one of all that are ever started claims the attempt."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            if Process.load(path) is not None:
                return Processes(path, attempt, private=self._private)
            time.sleep(0.1)
        return self.create(attempt, path, stop)

    def clear(self, attempt: Attempt, path: Path) -> None:
        """End its processes."""
        end(Process.load(path), path)

    def again(self, error: Failure | None) -> bool:
        return True
