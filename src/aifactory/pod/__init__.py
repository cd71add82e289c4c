"""What the entrypoint does about where it runs, when that is a pod: the spec that it was handed, its output, its
surroundings. On a laptop the launcher sees to these."""

from aifactory.pod.handed import Handed
from aifactory.pod.output import kept
from aifactory.pod.surroundings import prepare

__all__ = ["Handed", "kept", "prepare"]
