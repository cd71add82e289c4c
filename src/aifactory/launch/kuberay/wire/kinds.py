"""Kinds of objects that the launcher touches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """As the API server addresses it; `group` is empty for the core ones."""

    group: str
    version: str
    plural: str
    name: str
    namespaced: bool = True

    def path(self, namespace: str, *rest: str) -> str:
        """`/apis/ray.io/v1/namespaces/<namespace>/rayjobs[/<rest>]`."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        place = f"/namespaces/{namespace}" if self.namespaced else ""
        return "/".join((root + place, self.plural, *rest))

    @property
    def api(self) -> str:
        """`ray.io/v1`, as in `apiVersion`."""
        return f"{self.group}/{self.version}" if self.group else self.version


RAYJOBS = Kind("ray.io", "v1", "rayjobs", "RayJob")
RAYCLUSTERS = Kind("ray.io", "v1", "rayclusters", "RayCluster")
SECRETS = Kind("", "v1", "secrets", "Secret")
CONFIG_MAPS = Kind("", "v1", "configmaps", "ConfigMap")
PODS = Kind("", "v1", "pods", "Pod")
EVENTS = Kind("", "v1", "events", "Event")
CLAIMS = Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
ACCOUNTS = Kind("", "v1", "serviceaccounts", "ServiceAccount")
NODES = Kind("", "v1", "nodes", "Node", namespaced=False)
WORKLOADS = Kind("kueue.x-k8s.io", "v1beta2", "workloads", "Workload")
LOCAL_QUEUES = Kind("kueue.x-k8s.io", "v1beta2", "localqueues", "LocalQueue")
CLUSTER_QUEUES = Kind("kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue", namespaced=False)
KUEUE_PRIORITIES = Kind(
    "kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass", namespaced=False
)
POD_GROUPS = Kind("scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup")
KAI_QUEUES = Kind("scheduling.run.ai", "v2", "queues", "Queue", namespaced=False)
PRIORITIES = Kind("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
