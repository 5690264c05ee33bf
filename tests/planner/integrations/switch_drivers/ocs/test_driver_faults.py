"""No light is wrong, shared or leaked by the driver, whatever the emulated switches do and whenever it is killed.

`SWITCH_SEEDS=100 pytest tests/planner/integrations/switch_drivers/ocs/test_driver_faults.py` draws more.
"""

import os
from pathlib import Path

import pytest

from tests.planner.integrations.switch_drivers.ocs.faulty_world import World, faulty
from tests.planner.integrations.switch_drivers.ocs.site import site_of

SEEDS, STEPS = int(os.environ.get("SWITCH_SEEDS", "1")), 40


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_light_is_where_it_should_be(tmp_path: Path, seed: int) -> None:
    with site_of(tmp_path, "torus") as site:
        world = World(site, seed, 0.001)
        with faulty(world):
            assert world.run(STEPS) == []
        assert len(world.emulator.happened) > 10
        assert world.counts["connect"] > 3
        assert world.counts["killed"]
