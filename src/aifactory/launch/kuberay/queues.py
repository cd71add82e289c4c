"""What no watch tells of a queue: who stands before a run, and whether its priority class exists."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.wire.kinds import KUEUE_PRIORITIES, Kind

SECONDS = 15.0
WANTED_SECONDS = 60.0
VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/{namespace}/localqueues/{queue}/pendingworkloads"
type Json = dict[str, Any]
type Question = tuple[str, str]


class Answer(Protocol):
    """Of `Asks.request`."""

    def json(self) -> Json: ...


class Asks(Protocol):
    """What is asked of the cluster's client."""

    namespace: str

    def get(self, kind: Kind, name: str) -> Json | None: ...

    def request(self, verb: str, path: str) -> Answer: ...


class Queues:
    """One for a cluster, however many runs wait: each question is asked once in `seconds` while somebody wants to know,
    by a thread that ends some time later. The answers here never wait for the network."""

    def __init__(self, api: Asks, *, seconds: float = SECONDS):
        self._api, self._seconds = api, seconds
        self._lock = threading.Lock()
        self._wanted: dict[Question, float] = {}
        self._known: dict[Question, Any] = {}
        self._thread: threading.Thread | None = None

    def pending(self, queue: str) -> list[Json] | None:
        """The items of Kueue's visibility API for a LocalQueue, in their order; None if they are not known."""
        found = self._ask(("pending", queue))
        return found if isinstance(found, list) else None

    def priority(self, name: str) -> bool | None:
        """Whether Kueue's priority class exists; None if that is not known."""
        found = self._ask(("priority", name))
        return found if isinstance(found, bool) else None

    def _ask(self, question: Question) -> Any:
        with self._lock:
            self._wanted[question] = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True, name="queues")
                self._thread.start()
            return self._known.get(question)

    def _run(self) -> None:
        while True:
            with self._lock:
                late = time.monotonic() - WANTED_SECONDS
                self._wanted = {question: at for question, at in self._wanted.items() if at > late}
                self._known = {question: one for question, one in self._known.items() if question in self._wanted}
                if not self._wanted:
                    self._thread = None
                    return
                questions = list(self._wanted)
            for question in questions:
                answer = self._answer(question)
                with self._lock:
                    self._known[question] = answer
            time.sleep(self._seconds)

    def _answer(self, question: Question) -> Any:
        what, name = question
        known: dict[str, Callable[[], Any]] = {
            "pending": lambda: self._api.request("GET", self._path(name)).json().get("items") or [],
            "priority": lambda: self._api.get(KUEUE_PRIORITIES, name) is not None,
        }
        try:
            return known[what]()
        except (FactoryError, ValueError):
            return None  # an estimate that can't be had is left out

    def _path(self, queue: str) -> str:
        return VISIBILITY.format(namespace=self._api.namespace, queue=queue)
