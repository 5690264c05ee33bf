"""No cube is in two Slices, none is missing where a job runs and none is left, whenever the process is killed.

SLICE_SEEDS=100 in the environment draws as many worlds; seeds that found something stay in the list.
"""

import os
from pathlib import Path
from random import Random

import pytest

from tests.planner.controller.sites import quick_folder, remember_kinds
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.slices.cubes import guards
from tests.planner.integrations.slices.killed_world import KilledWorld, killed

SEEDS = range(int(os.environ.get("SLICE_SEEDS", "2")))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("is_divided", [False, True], ids=["whole cubes", "partitions"])
def test_slices_follow_decisions(server: Server, seed: int, is_divided: bool) -> None:
    remember_kinds()
    server.emulator.guards = guards()
    with quick_folder() as folder:
        world = KilledWorld(server, Path(folder), Random(seed), is_divided)
        with killed(world):
            world.run(60)
    world.api.close()
    assert world.shared() == []
    assert world.counts["killed"]
    assert world.counts["meddled"]
