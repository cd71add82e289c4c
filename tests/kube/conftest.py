"""Fixtures for tests of the cluster: the lab that launches use."""

from tests.launch.fixtures import lab, project_root

__all__ = ["lab", "project_root"]
