"""No light is wrong, shared, leaked, early or dark by a controller, whatever the switches do and whenever it is killed.

`python -m tests.benchmarks.bench_switch_faults` draws thousands of faults; seeds that found something stay here.
"""

from pathlib import Path

import pytest

from tests.planner.controller.sites import remember_kinds
from tests.planner.integrations.switch_drivers.ocs.controlled_world import ControlledWorld, controlled
from tests.planner.integrations.switch_drivers.ocs.site import site_of


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed", "rate"), [("torus", 2, 0.003), ("torus", 44, 0.004)])
def test_light_follows_decisions(tmp_path: Path, kind: str, seed: int, rate: float) -> None:
    remember_kinds()
    with site_of(tmp_path, kind) as site:
        world = ControlledWorld(site, seed, rate)
        with controlled(world):
            found = world.run(60)
        assert found.blamed == []
        assert world.emulator.happened
        assert world.counts["killed"]
        assert any(world.started.values())
