"""Every state of an attempt on a cluster by its code: what it means, what mends it, and how an attempt ends by it."""

from __future__ import annotations

from dataclasses import dataclass

from aifactory.launch.runs.result import Outcome


@dataclass(frozen=True)
class Reason:
    """`outcome` is how an attempt ends by it; None for what passes by itself. `hopeless`: a wait that lasts until a
    person changes something, so that it becomes that outcome after the patience of `observe`. `again`: whether another
    attempt may go better without a person's help."""

    code: str
    means: str
    fix: str = ""
    outcome: Outcome | None = None
    hopeless: bool = False
    again: bool = False


def _waits(code: str, means: str, fix: str = "") -> Reason:
    return Reason(code, means, fix)


def _hopeless(code: str, means: str, fix: str) -> Reason:
    return Reason(code, means, fix, "failed_infrastructure", hopeless=True)


def _ends(code: str, outcome: Outcome, means: str, fix: str = "", *, again: bool = False) -> Reason:
    return Reason(code, means, fix, outcome, again=again)


_QUEUED = (
    _waits("kueue_quota", "Kueue: the queue's quota is used by others", "wait, ask for a smaller shape, or raise it"),
    _waits("kueue_victims", "Kueue: runs of lower priority are being preempted for this one"),
    _hopeless("kueue_never_fits", "Kueue: the run asks for more than the whole quota", "ask for a smaller shape"),
    _hopeless("kueue_no_queue", "Kueue: the LocalQueue does not exist", "name one of the namespace, or have it made"),
    _waits("kueue_stopped", "Kueue: the queue is stopped", "wait until its owner opens it, or name another queue"),
    _waits("kueue_paused", "Kueue: the workload was paused by hand", "`spec.active: true` on the Workload lets it on"),
    _waits(
        "kueue_silent",
        "Kueue has said nothing: it is down, or does not know the priority class",
        "`aifactory doctor <cluster>` tells which",
    ),
    _hopeless("kueue_no_priority", "Kueue: the priority class does not exist", "name one that the cluster has"),
    _waits("kueue_admits", "Kueue: quota is reserved, admission checks are pending"),
    _waits("kai_waits", "KAI: the gang can't be placed now", "wait, or ask for a smaller shape"),
    _waits("kai_over_limit", "KAI: the queue is at its limit", "wait, or have the queue's limit raised"),
    _waits(
        "kai_over_quota",
        "KAI: a run that can't be preempted has to fit the queue's quota",
        "wait, or let it be preempted",
    ),
    _waits("kai_delay", "KAI: preempting others waits for their minimum runtime"),
    _hopeless("kai_no_queue", "KAI: the queue does not exist", "name one that the cluster has, or have it made"),
    _waits("no_room", "Kubernetes' scheduler finds no node for a pod", "wait, or ask for a smaller shape"),
)

_STARTING = (
    _waits(
        "not_taken", "the KubeRay operator has not taken the job up", "`aifactory doctor <cluster>` tells if it lives"
    ),
    _waits("makes_pods", "the Ray cluster's pods are being made"),
    _waits("pod_quota", "a ResourceQuota of the namespace allows no further pod", "end something, or have it raised"),
    _hopeless("pod_refused", "the API server refuses a pod", "mend what its message names"),
    _waits("pulls", "an image is being pulled"),
    _waits("pull_fails", "an image can't be pulled now", "see whether the registry is up and reachable from the nodes"),
    _hopeless(
        "image_missing", "the registry does not give the image", "push it, or grant the nodes the right to pull it"
    ),
    _waits("init", "an init container runs"),
    _hopeless("init_fails", "an init container fails", "read its log in the attempt's `incident/`"),
    _waits("mounts", "a volume can't be mounted", "see whether the claim is bound, and the directory there"),
    _hopeless("container_config", "a container can't be made as it is described", "mend what its message names"),
    _hopeless("oom_starts", "a container is killed for memory while it comes up", "ask for a shape with more memory"),
    _hopeless("crash_loop", "a container ends as soon as it is started", "read its log in the attempt's `incident/`"),
    _waits("unready", "not all pods of the Ray cluster are ready"),
    _waits("driver", "the Ray cluster is ready, the driver is being started"),
)

_RUNNING = (
    _waits("running", "the driver runs"),
    _waits("hurt", "the driver runs, and a pod of its Ray cluster has been lost"),
)

_LOG = "read the log in the attempt's directory"
_INFRA: Outcome = "failed_infrastructure"
_ENDED = (
    _ends("succeeded", "succeeded", "the driver ended with success"),
    _ends("entrypoint", "failed_code", "the driver failed by its own code", _LOG),
    _ends("stopped", "cancelled", "the Ray job was stopped"),
    _ends("deactivated", "cancelled", "Kueue: the workload was paused while it ran", "launch it again when it may run"),
    _ends("preempted", "preempted", "a run of higher priority took its place", again=True),
    _ends("drained", "preempted", "Kueue: the queue was stopped, and its runs with it", again=True),
    _ends("evicted", _INFRA, "a pod was evicted: its node was drained or short of something", again=True),
    _ends("node_lost", _INFRA, "a node of the run stopped answering", again=True),
    _ends("gang_stale", _INFRA, "KAI evicted the gang, since a part of it was gone for too long", again=True),
    _ends(
        "oom_kill",
        _INFRA,
        "a container used more memory than its limit",
        "ask for a shape with more memory, or a smaller batch",
        again=True,
    ),
    _ends(
        "killed",
        _INFRA,
        "the driver was killed from outside",
        "its pod may be short of memory: ask for more",
        again=True,
    ),
    _ends("pod_killed", _INFRA, "a pod's Ray was killed from outside", "its node may be short of memory", again=True),
    _ends("pod_lost", _INFRA, "a pod of the Ray cluster has gone, and nothing tells why", again=True),
    _ends("head_lost", _INFRA, "the head's pod is gone", again=True),
    _ends("submitter", _INFRA, "the driver could not be submitted, or who followed it is gone", again=True),
    _ends("dashboard", _INFRA, "the operator could not reach Ray's dashboard", again=True),
    _ends("invalid", _INFRA, "the operator refuses the RayJob", "mend what its message names; the launcher deletes it"),
    _ends(
        "failed",
        _INFRA,
        "the RayJob failed, and nothing tells why",
        "read `incident/` in the attempt's directory",
        again=True,
    ),
    _ends(
        "deadline_queue",
        "deadline",
        "it was queued for longer than its budget",
        "raise queue_seconds, or name another queue",
    ),
    _ends(
        "deadline_start",
        "deadline",
        "it took longer to start than its budget",
        "mend what it waited for, or raise start_seconds",
    ),
    _ends(
        "deadline_run",
        "deadline",
        "it ran for longer than its budget",
        "resume it from its last checkpoint with more time",
    ),
    _ends(
        "deadline_stall",
        "deadline",
        "it said nothing for longer than its budget",
        "read its log; where it was at work in silence, raise stall_seconds",
    ),
    _ends(
        "deadline_cluster",
        "deadline",
        "the RayJob's own deadline ended it, the launcher's last resort",
        "raise the launcher's budget",
    ),
    _ends("deleted", "lost", "somebody deleted the RayJob", again=True),
    _ends("gone", "lost", "the RayJob is not there any more, and nothing tells how it ended", again=True),
)

_UNKNOWN = (_waits("absent", "there is no RayJob yet"),)

BY_PHASE: dict[str, tuple[Reason, ...]] = {
    "queued": _QUEUED,
    "starting": _STARTING,
    "running": _RUNNING,
    "ended": _ENDED,
    "unknown": _UNKNOWN,
}
REASONS: dict[str, Reason] = {one.code: one for table in BY_PHASE.values() for one in table}


def fix_of(code: str) -> str:
    """The edit or command that mends it; "" for an unknown code."""
    return REASONS[code].fix if code in REASONS else ""
