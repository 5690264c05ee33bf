"""Fixtures of the tests in this folder."""

from pathlib import Path

import pytest

from tests.planner.integrations.slurm.install_cases import CONF, ODD
from tests.slurm.sites import Site, write_site


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / ODD / "slurm.conf"
    path.parent.mkdir()
    path.write_text(CONF)
    path.chmod(0o640)
    return path


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return write_site(tmp_path / "site", 4, apart=ODD)
