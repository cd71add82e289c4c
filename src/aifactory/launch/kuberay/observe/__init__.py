"""What is seen of an attempt on a cluster: its state, why, since when, and how it ended. Pure: the API's JSON in."""

from aifactory.launch.kuberay.observe.observe import PATIENCE_SECONDS, explain, gave_up, observe
from aifactory.launch.kuberay.observe.recall import Recall
from aifactory.launch.kuberay.observe.seen import Changes, Seen
from aifactory.launch.runs.reasons import BY_PHASE, REASONS, Reason, fix_of

__all__ = [
    "BY_PHASE",
    "PATIENCE_SECONDS",
    "REASONS",
    "Changes",
    "Reason",
    "Recall",
    "Seen",
    "explain",
    "fix_of",
    "gave_up",
    "observe",
]
