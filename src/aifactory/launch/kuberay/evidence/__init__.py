"""What is kept of an attempt before its objects are deleted: logs, events, statuses, the manifest."""

from aifactory.launch.kuberay.evidence.collect import Reads, collect

__all__ = ["Reads", "collect"]
