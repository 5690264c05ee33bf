"""No light is wrong, shared or leaked by the driver, whatever the emulated switches do and whenever it is killed.

`SWITCH_SEEDS=100 pytest tests/planner/integrations/switch_drivers/ocs/test_driver_faults.py` draws more.
"""

import os
from pathlib import Path

import pytest

from tests.planner.integrations.switch_drivers.ocs.faulty_world import World, faulty
from tests.planner.integrations.switch_drivers.ocs.site import SCHEMES, unconnected

SEEDS, STEPS = int(os.environ.get("SWITCH_SEEDS", "1")), 40


@pytest.mark.slow
@pytest.mark.parametrize("protocol", sorted(SCHEMES))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_light_is_where_it_should_be(tmp_path: Path, protocol: str, seed: int) -> None:
    site = unconnected(tmp_path, "torus", protocol)
    world = World(site, seed, 0.001)
    with faulty(world):
        assert world.run(STEPS) == []
    for driver in site.drivers:
        driver.close()
    assert len(world.emulator.happened) > 10
    assert world.counts["connect"] > 3
    assert world.counts["killed"]
