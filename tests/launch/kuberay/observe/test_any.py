"""Whatever is missing, there is an answer."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.launch.kuberay.observe import REASONS, Changes, observe

NOW = datetime(2026, 12, 1, 15, tzinfo=UTC)
WORDS_OF_THE_API = """
True False Unknown Initializing Running Failed Complete Suspended ValidationFailed RUNNING PENDING
FAILED SUCCEEDED STOPPED AppFailed SubmissionFailed DeadlineExceeded QuotaReserved Admitted Evicted
Requeued Preempted Pending Inadmissible PodScheduled Unschedulable OOMKilled ErrImagePull
CrashLoopBackOff ContainerCreating DisruptionTarget Pod RayJob RayCluster PodGroup Evict FailedMount
FailedToCreateHeadPod Ready 2026-12-01T14:00:00Z yesterday
"""
WORDS = st.sampled_from(WORDS_OF_THE_API.split()) | st.sampled_from(
    ("", "insufficient quota for cpu in flavor default, 100m more needed")
)
KEYS_OF_THE_API = """
metadata spec status name labels annotations conditions type reason message jobDeploymentStatus
jobStatus startTime creationTimestamp deletionTimestamp suspend active containerStatuses
initContainerStatuses state lastState waiting running terminated phase rayClusterSpec headGroupSpec
workerGroupSpecs template containers resources requests schedulingConditions reasons details
queueDetails involvedObject kind exitCode nodeName kueue.x-k8s.io/queue-name kai.scheduler/queue
replicas cpu positionInLocalQueue lastTimestamp
"""
KEYS = st.sampled_from(KEYS_OF_THE_API.split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=40,
)
OBJECT = st.dictionaries(KEYS, JSON, max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    st.none() | OBJECT,
    st.lists(OBJECT, max_size=3),
    st.lists(OBJECT, max_size=3),
    st.fixed_dictionaries({}, optional={"workload": OBJECT, "podgroup": OBJECT}),
    st.fixed_dictionaries(
        {}, optional={"pending": st.lists(OBJECT, max_size=3), "nodes": st.lists(OBJECT, max_size=2)}
    ),
    st.booleans(),
)
def test_any_json_gives_a_phase_and_a_known_code(
    rayjob: Any, pods: Any, events: Any, objects: Any, more: Any, known: bool
) -> None:
    before = copy.deepcopy((rayjob, pods, events, objects, more))
    seen = observe(rayjob, pods, events, **objects, **more, known=known, now=NOW)
    assert seen.code in REASONS
    assert (seen.outcome is not None) == (seen.phase == "ended")
    assert (seen.failure is not None) == (seen.phase == "ended" and seen.outcome != "succeeded")
    assert "\n" not in seen.text
    again = observe(rayjob, pods, events, **objects, **more, known=known, now=NOW)
    changes = Changes()
    assert changes.take(seen) is not None
    assert changes.take(again) is None
    assert (rayjob, pods, events, objects, more) == before
