"""Where an attempt's pods are between being made and being ready."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aifactory.launch.kuberay.observe.asked import limit_of
from aifactory.launch.kuberay.observe.objects import (
    Json,
    Objects,
    condition,
    holds,
    name_of,
    one_line,
    part,
    statuses,
    text,
    when,
)
from aifactory.launch.kuberay.observe.struck import deleted, died, oom

_MISSING = re.compile(
    r"not found|manifest unknown|does not exist|unauthorized|authentication required|denied|forbidden|"
    r"InvalidImageName|invalid reference",
    re.IGNORECASE,
)
_NOT_FOR_GOOD = re.compile(r"no such host|i/o timeout|connection refused", re.IGNORECASE)
_PULL = ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable")
_CONFIG = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError")
_MOUNTS = ("FailedMount", "FailedAttachVolume", "FailedMapVolume")
_MADE_BY = ("RayCluster", "RayJob", "Job")


@dataclass(frozen=True)
class Trouble:
    """What keeps a pod from being ready; `weight` orders troubles: the one that needs a person comes first."""

    code: str
    text: str
    since: str
    weight: int

    @property
    def state(self) -> str:
        """Without numbers of a quota, which come and go with others' pods."""
        return self.code if self.code == "pod_quota" else self.text


def unplaced(pod: Json) -> bool:
    """Whether it has no node yet."""
    return (
        text(pod, "status", "phase") in ("Pending", "")
        and not text(pod, "spec", "nodeName")
        and not part(pod, "metadata").get("deletionTimestamp")
    )


def ready(pod: Json) -> bool:
    return holds(pod, "Ready") and not part(pod, "metadata").get("deletionTimestamp")


def troubles(objects: Objects) -> list[Trouble]:
    """Those of all pods that have a node, and of pods that could not be made; the worst first."""
    found = [one for pod in objects.pods if not unplaced(pod) and not ready(pod) for one in _of(pod, objects)]
    found += [*_not_made(objects), *_die(objects)]
    return sorted(found, key=lambda one: (-one.weight, one.text))


def _of(pod: Json, objects: Objects) -> list[Trouble]:
    name, found = name_of(pod), []
    for kind, status in statuses(pod):
        if one := _container(kind, status, pod, objects):
            found.append(one)
    about = [one for one in objects.of("Pod") if text(one, "involvedObject", "name") == name]
    begun = any(part(status, "state", "running") or part(status, "state", "terminated") for _, status in statuses(pod))
    if not begun and (mounts := [one for one in about if one.get("reason") in _MOUNTS]):
        said = one_line(text(mounts[-1], "message"))
        found.append(Trouble("mounts", f"{name}: {said}", text(mounts[0], "firstTimestamp"), 60))
    return found


def _container(kind: str, status: Json, pod: Json, objects: Objects) -> Trouble | None:
    pod_name, name = name_of(pod), text(status, "name")
    since = text(pod, "status", "startTime")
    waiting, running = part(status, "state", "waiting"), part(status, "state", "running")
    last = part(status, "lastState", "terminated") or part(status, "state", "terminated")
    reason, message = text(waiting, "reason"), text(waiting, "message")
    image = text(status, "image")
    if reason in _PULL:
        return _pull(pod, reason, message, image, since, objects)
    if reason in _CONFIG:
        return Trouble("container_config", f"{pod_name}: {name}: {reason}: {one_line(message)}", since, 80)
    if kind == "init" and text(last, "reason") and last.get("exitCode") not in (0, None):
        said = f"{pod_name}: init container {name} ended with exit code {last.get('exitCode')}"
        return Trouble("init_fails", said, text(last, "finishedAt") or since, 85)
    if kind == "main" and text(last, "reason") == "OOMKilled":
        return Trouble(
            "oom_starts", oom(name, pod_name, limit_of(part(pod, "spec"), name)), text(last, "finishedAt"), 86
        )
    if reason == "CrashLoopBackOff":
        said = f"{pod_name}: {name} ends as soon as it is started (exit code {last.get('exitCode', 'unknown')})"
        return Trouble("crash_loop", said, text(last, "finishedAt") or since, 85)
    if kind == "main" and (code := part(status, "state", "terminated").get("exitCode")):
        said = f"{pod_name}: {name} ended with exit code {code} before the Ray cluster was ready"
        return Trouble("crash_loop", said, text(last, "finishedAt"), 84)
    if kind == "init" and running:
        # Every worker waits like this until the head answers.
        return Trouble("init", f"{pod_name}: init container {name} runs", text(running, "startedAt"), 20)
    if reason == "ContainerCreating" and kind == "main" and (pull := _pulling(pod, objects)):
        return Trouble("pulls", f"{pod_name} pulls {pull[0] or image}", pull[1], 40)
    return None


def _pull(pod: Json, reason: str, message: str, image: str, since: str, objects: Objects) -> Trouble:
    name = name_of(pod)
    told = [
        text(one, "message")
        for one in objects.of("Pod", "Failed")
        if text(one, "involvedObject", "name") == name and text(one, "message").startswith("Failed to pull")
    ]
    # "Back-off pulling image" says nothing: the event before it has the registry's words.
    why = next((one for one in [message, *reversed(told)] if one and not one.startswith("Back-off")), message)
    gone = reason in ("ErrImageNeverPull", "InvalidImageName") or (
        _MISSING.search(why) and not _NOT_FOR_GOOD.search(why)
    )
    code = "image_missing" if gone else "pull_fails"
    return Trouble(code, f"{name} can't pull {image}: {_inner(why) or reason}", since, 90 if gone else 70)


def _inner(message: str) -> str:
    # The runtime wraps its error some times over, each time with the image's name.
    return one_line(message.rsplit("desc = ", 1)[-1].rsplit('": ', 1)[-1])


def _pulling(pod: Json, objects: Objects) -> tuple[str, str] | None:
    about = [one for one in objects.of("Pod") if text(one, "involvedObject", "name") == name_of(pod)]
    last = next((one for one in reversed(about) if one.get("reason") in ("Pulling", "Pulled")), None)
    if last is None or last.get("reason") != "Pulling":
        return None
    image = re.search(r'"([^"]+)"', text(last, "message"))
    return (image[1] if image else ""), when(last)


def _not_made(objects: Objects) -> list[Trouble]:
    """Pods that the API server did not take, by the events of who wanted to make them."""
    found = []
    for one in objects.events:
        message = text(one, "message")
        failed = text(one, "reason").startswith(("FailedCreate", "FailedToCreate"))
        if text(one, "involvedObject", "kind") not in _MADE_BY or not failed or message.endswith("already exists"):
            continue
        quota = "exceeded quota" in message
        said = (
            message[message.index("exceeded quota") :] if quota else re.sub(r"^Failed to create [^,]*, ", "", message)
        )
        code = "pod_quota" if quota else "pod_refused"
        found.append(Trouble(code, one_line(said), text(one, "firstTimestamp") or when(one), 75))
    return found[-1:]


def _die(objects: Objects) -> list[Trouble]:
    """Pods that end as soon as they are started: the operator deletes each and makes another."""
    events = [one for one in objects.of("RayCluster") if died(one)]
    if len(events) < 2:
        return []
    _, code, reason = died(events[-1]) or ("", 0, "")
    if reason == "OOMKilled" and (blow := deleted(events[-1], objects)):
        return [Trouble("oom_starts", blow.text, text(events[0], "firstTimestamp") or when(events[0]), 86)]
    what = "the head's pod" if events[-1].get("reason") == "DeletedHeadPod" else "a worker's pod"
    how = f"exit code {code}, {reason}" if reason else "how is not told"
    said = f"{what} ends as soon as it is started, again and again ({how})"
    return [Trouble("crash_loop", said, text(events[0], "firstTimestamp") or when(events[0]), 85)]


def scheduler_says(pods: list[Json]) -> tuple[str, str]:
    """(message, since) of Kubernetes' own scheduler about the first of these pods without a node."""
    for pod in pods:
        found = condition(pod, "PodScheduled")
        if found.get("status") == "False":
            return one_line(text(found, "message")), text(found, "lastTransitionTime")
    return "", ""
