"""What of a site's slurm.conf stands in the way."""

from pathlib import Path

import pytest

from planner.model.errors import InputError
from tests.planner.integrations.slurm.install_cases import installation
from tests.slurm.sites import write_site


@pytest.mark.parametrize("character", ['"', "#", "\\", "*", "%", "ä", "`"])
def test_a_path_that_slurm_conf_cannot_hold_is_refused(tmp_path: Path, conf: Path, character: str) -> None:
    site = write_site(tmp_path / "site", 4, apart=f"a{character}b")
    with pytest.raises(InputError, match=r"has a character that slurm\.conf cannot hold"):
        installation(site, conf).install()
