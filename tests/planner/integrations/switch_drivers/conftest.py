"""Fixtures of the tests in this folder."""

from pathlib import Path

import pytest

from planner.integrations.switch_drivers import Driver, driver_of
from tests.planner.integrations.switch_drivers.drivers import COMMAND, hook


@pytest.fixture(params=["file", "hook"])
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Driver:
    if request.param == "file":
        return driver_of({"kind": "file"}, tmp_path / "driver")
    return hook(tmp_path, COMMAND.format(folder=tmp_path))
