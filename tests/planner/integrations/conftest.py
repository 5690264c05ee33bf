"""Shared by the tests of drivers, of Slurm and of Kubernetes."""

import pytest

from tests.planner.controller.sites import remember_kinds


@pytest.fixture(autouse=True, scope="session")
def _kinds_are_expanded_once() -> None:
    remember_kinds()
