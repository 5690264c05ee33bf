"""Fixtures of the tests in this folder."""

from pathlib import Path

import pytest

from tests.planner.cli.conftest import written
from tests.planner.page_cases import fields


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return written(tmp_path, fields(local="20 MiB"))
