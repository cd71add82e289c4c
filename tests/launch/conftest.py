"""Fixtures for launches."""

from tests.launch.fixtures import lab, own_lab, project_root

__all__ = ["lab", "own_lab", "project_root"]
