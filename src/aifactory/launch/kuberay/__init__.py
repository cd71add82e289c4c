"""Backend `kuberay`: a run as a RayJob on a Ray cluster that is made for it alone."""

from aifactory.launch.kuberay.asked import Asked
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.objects import spec_config_map, token_secret
from aifactory.launch.kuberay.rayjob import build_rayjob
from aifactory.launch.kuberay.scheduling import Scheduler, scheduler_of

__all__ = ["Asked", "Names", "Scheduler", "build_rayjob", "scheduler_of", "spec_config_map", "token_secret"]
