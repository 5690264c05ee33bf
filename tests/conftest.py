"""The same on any machine: commands print as into a file, and no example of hypothesis is too slow.

Workers of pytest-xdist would give commands the width of a terminal; examples are judged by what they find, not by time.
"""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

from tests.order import longest_first

settings.register_profile("any_machine", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Workers of pytest-xdist take files in order of collection, not those with the most tests first."""
    os.environ.pop("COLUMNS", None)
    session.config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    longest_first(items)


def pytest_collection(session: pytest.Session) -> None:
    """Modules stay: nothing of them is garbage, and looking for it takes a tenth of a run."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()
