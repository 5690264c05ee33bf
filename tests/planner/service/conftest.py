"""What tests of the service share."""

from collections.abc import Iterator

import pytest

from tests.planner.controller.sites import remember_kinds
from tests.planner.service.running import Running, running


@pytest.fixture(autouse=True, scope="session")
def _remembered_kinds() -> None:
    remember_kinds()


@pytest.fixture
def site() -> Iterator[Running]:
    """A service of 4 servers of 8 accelerators, empty."""
    with running() as found:
        yield found
