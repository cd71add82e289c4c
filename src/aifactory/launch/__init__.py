"""From a target to a run that ended: plan, gate, attempts, backends, watch."""

from aifactory.launch.clusters.registry import Cluster, load_clusters
from aifactory.launch.gate.answer import Answer, ask
from aifactory.launch.gate.facts import CheckFact, Facts, ImageFact, InputFact, KubeFact
from aifactory.launch.gate.gather import gather
from aifactory.launch.gate.rules import gate
from aifactory.launch.images.copies import LocalImage, ensure_image
from aifactory.launch.images.inventory import ImageSummary, list_images
from aifactory.launch.launcher import launch
from aifactory.launch.mounts import Mount, mounts, mounts_of
from aifactory.launch.plans.plan import CheckTarget, EvaluateTarget, Plan, plan, resume
from aifactory.launch.plans.smoke import SmokeTarget
from aifactory.launch.refusal import GateRefused, Refusal
from aifactory.launch.runs.attempts import Attempt, Attempts
from aifactory.launch.runs.names import attempt_name, job_name, run_name
from aifactory.launch.runs.result import Outcome, RunResult, Signal
from aifactory.launch.runs.summary import RunSummary, find_run, get_run, runs, summary
from aifactory.launch.stopping import stop

__all__ = [
    "Answer",
    "Attempt",
    "Attempts",
    "CheckFact",
    "CheckTarget",
    "Cluster",
    "EvaluateTarget",
    "Facts",
    "GateRefused",
    "ImageFact",
    "ImageSummary",
    "InputFact",
    "KubeFact",
    "LocalImage",
    "Mount",
    "Outcome",
    "Plan",
    "Refusal",
    "RunResult",
    "RunSummary",
    "Signal",
    "SmokeTarget",
    "ask",
    "attempt_name",
    "ensure_image",
    "find_run",
    "gate",
    "gather",
    "get_run",
    "job_name",
    "launch",
    "list_images",
    "load_clusters",
    "mounts",
    "mounts_of",
    "plan",
    "resume",
    "run_name",
    "runs",
    "stop",
    "summary",
]
