"""Fixtures for faults: the lab that launches use."""

from tests.launch.fixtures import lab, own_lab, project_root

__all__ = ["lab", "own_lab", "project_root"]
