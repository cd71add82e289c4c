"""The doctor of a cluster: what a launch would need of it, asked of the real one, each answer with its fix."""

from aifactory.launch.doctor.examine import examine
from aifactory.launch.doctor.line import Line
from aifactory.launch.doctor.seen import Sample, seen

__all__ = ["Line", "Sample", "examine", "seen"]
