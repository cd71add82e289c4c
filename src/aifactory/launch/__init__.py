"""From a target to a run that ended: plan, gate, attempts, backends, watch."""

from aifactory.launch.gate import GateRefused, Refusal
from aifactory.launch.launcher import launch
from aifactory.launch.names import attempt_name, job_name, run_name
from aifactory.launch.plan import EvaluateTarget, Plan, plan, resume
from aifactory.launch.result import Outcome, RunResult, Signal

__all__ = [
    "EvaluateTarget",
    "GateRefused",
    "Outcome",
    "Plan",
    "Refusal",
    "RunResult",
    "Signal",
    "attempt_name",
    "job_name",
    "launch",
    "plan",
    "resume",
    "run_name",
]
