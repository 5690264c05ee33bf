"""No light is wrong, shared or leaked by the driver, whatever the emulated switches do and whenever it is killed.

`SWITCH_SEEDS=100 pytest tests/planner/integrations/switch_drivers/ocs/test_driver_faults.py` draws more.
"""

import os
from pathlib import Path

import pytest

from planner.integrations.switch_drivers.recorded import RecordedDriver
from tests.planner.integrations.switch_drivers.ocs.faulty_world import World, faulty
from tests.planner.integrations.switch_drivers.ocs.growing_world import GrowingWorld
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


@pytest.mark.slow
@pytest.mark.parametrize("protocol", sorted(SCHEMES))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_light_stays_where_others_come_beside_it(tmp_path: Path, protocol: str, seed: int) -> None:
    site = unconnected(tmp_path, "torus", protocol)
    world = GrowingWorld(site, seed, 0.001)
    with faulty(world):
        assert world.run(STEPS) == []
    for driver in site.drivers:
        driver.close()
    assert world.emulator.happened
    assert world.counts["grown"]
    assert world.counts["killed"]


@pytest.mark.slow
def test_light_that_is_missing_beside_what_stays_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that sets nothing for a job that has some light on."""
    monkeypatch.setattr(RecordedDriver, "more", lambda self, circuits, before: [] if before else circuits)
    site = unconnected(tmp_path, "torus", "restconf")
    world = GrowingWorld(site, 0, 0.0)
    with faulty(world):
        assert {"early"} & {each.kind for each in world.run(STEPS)}
    for driver in site.drivers:
        driver.close()
