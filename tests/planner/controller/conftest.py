"""What all tests of schedulers share."""

import pytest

from tests.planner.controller.sites import remember_kinds


@pytest.fixture(autouse=True, scope="session")
def _remembered_kinds() -> None:
    remember_kinds()
