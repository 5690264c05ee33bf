"""Columns of a plan say of each device what its name says, and of each job which rule it may break."""

import numpy as np

from planner.checks.columns import columns, marked
from planner.checks.names import tile_of
from tests.planner.checks.good import GOOD, fat_tree, replicas
from tests.planner.checks.plans import edited


def test_numbers_are_those_of_the_names() -> None:
    for make in GOOD.values():
        instance, plan = make()
        placed, fabric = columns(instance, plan), instance.cluster.fabric
        names = [name for assignment in plan.assignments for name in assignment.devices]
        tiles = [tile for name in names if (tile := tile_of(fabric, name)) is not None]
        assert placed.device.tolist() == [server * fabric.devices_per_server + slot for server, slot in tiles]
        assert placed.server.tolist() == [server for server, _ in tiles]
        assert placed.num_devices.tolist() == placed.ranks.tolist()


def test_unknown_names_have_no_number() -> None:
    instance, plan = fat_tree()
    placed = columns(instance, edited(plan, "packets", devices=("r0.s0.g0", "r9.s0.g0", "r0.s0.x", "")))
    assert placed.device.tolist() == [0, -1, -1, -1]
    assert placed.server.tolist() == [0, -1, -1, -1]
    assert not marked(instance.cluster.fabric, set())[placed.device].any()


def test_places_in_blocks() -> None:
    instance, plan = fat_tree()
    block, placed = plan["packets"].configuration.block, columns(instance, plan)
    assert placed.blocks.tolist() == [block]
    assert placed.place_in_block.tolist() == [i % block for i in range(4)]
    assert placed.first_of_job.tolist() == [0] * 4


def test_jobs_with_some_devices() -> None:
    instance, plan = replicas()
    placed = columns(instance, plan)
    assert placed.jobs_with(np.array([False, True])).tolist() == [True]
    assert placed.jobs_with(np.array([False, False])).tolist() == [False]
    wide = plan["replicas"].configuration.model_copy(update={"data": 10**30})
    assert columns(instance, edited(plan, "replicas", configuration=wide)).ranks[0] > 2**32
