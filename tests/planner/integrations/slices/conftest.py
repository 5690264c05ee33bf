"""Fixtures of the tests in this folder."""

from tests.planner.integrations.kubernetes.conftest import server

__all__ = ["server"]
