"""What is seen of an attempt through the hub of its cluster."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from aifactory.launch.kuberay.hub import Hub, View
from aifactory.launch.kuberay.observe import PATIENCE_SECONDS, Recall, Seen, explain, observe
from aifactory.launch.kuberay.observe.objects import Json, part
from aifactory.launch.kuberay.scheduling import Kueue

AGAIN_SECONDS = 5.0
"""What is seen depends on the time too: a queue's silence, a wait without hope."""


@dataclass
class Look:
    """At one attempt, by one watcher; `patience` as that of `observe`, in seconds."""

    hub: Hub
    patience: float = PATIENCE_SECONDS
    former: list[Json] = field(default_factory=list)
    _recall: Recall = field(default_factory=Recall)
    _view: View | None = None
    _at: float = 0.0
    _seen: Seen | None = None

    def at(self, view: View) -> Seen:
        """The state, looked at anew when the view has changed or some seconds have passed."""
        now = time.monotonic()
        if self._seen is None or view != self._view or now - self._at > AGAIN_SECONDS:
            self._view, self._at = view, now
            self.former = self._recall.take(view.pods)
            labels = part(view.rayjob, "metadata", "labels")
            queue, priority = labels.get(Kueue.QUEUE), labels.get(Kueue.PRIORITY)
            waits = bool(queue and part(view.rayjob, "spec").get("suspend"))
            self._seen = observe(
                view.rayjob,
                view.pods,
                view.events,
                former=self.former,
                workload=view.workload,
                podgroup=view.podgroup,
                nodes=view.nodes,
                pending=self.hub.queues.pending(str(queue)) if waits else None,
                priority=self.hub.queues.priority(str(priority)) if waits and priority else None,
                others=self.hub.names(),
                patience=self.patience,
            )
        return self._seen

    def explains(self, view: View) -> Seen | None:
        """What happened to its pods that explains a driver which failed or stopped, if anything did."""
        self.former = self._recall.take(view.pods)
        return explain(
            view.rayjob,
            view.pods,
            view.events,
            former=self.former,
            workload=view.workload,
            podgroup=view.podgroup,
            nodes=view.nodes,
            others=self.hub.names(),
        )
