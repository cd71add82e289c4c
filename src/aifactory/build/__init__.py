"""What runs for a spec of kind build, inside the data image."""

from aifactory.build.execute import execute

__all__ = ["execute"]
