"""What all tests of schedulers share."""

from pathlib import Path

import pytest

from tests.planner.controller.sites import remember_kinds


@pytest.fixture(autouse=True, scope="session")
def _remembered_kinds() -> None:
    remember_kinds()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"
