"""What a silent switch could not give back is asked of it again."""

from pathlib import Path

import pytest

from tests.planner.integrations.switch_drivers.ocs.site import circuits_of, site_of


@pytest.mark.slow
def test_what_is_owed_is_paid(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus", hasty="x1") as site:
        driver = site.driver()
        driver.connect("j0", circuits_of("torus", "j0"))
        site.switches["x1"].hangs = True
        driver.release("j0")
        found = driver.resync()
        assert found.failed.keys() == {"left at x1"}
        site.switches["x1"].hangs = False
        assert driver.resync().failed == {}
        assert (site.rows(), driver.applied()) == ({}, {})
