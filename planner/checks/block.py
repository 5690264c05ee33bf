"""Blocks of consecutive ranks."""

from collections.abc import Iterator

import numpy as np

from planner.checks.columns import Bools, chosen, columns
from planner.checks.names import tile_of
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_block(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Ranks k b .. (k + 1) b - 1 lie in one server, for every k, b being the block."""
    fabric = instance.cluster.fabric
    for job, assignment in chosen(instance, plan, _torn(instance, plan)):
        block, tiles = assignment.configuration.block, [tile_of(fabric, name) for name in assignment.devices]
        for first in range(0, len(tiles), block):
            servers = {tile[0] for tile in tiles[first : first + block] if tile is not None}
            if len(servers) > 1:
                message = f"{job.name}: ranks {first} to {first + block - 1} lie in {len(servers)} servers"
                yield Violation("block", job.name, message, len(servers) - 1.0)


def _torn(instance: Instance, plan: Plan) -> Bools:
    """Jobs of which some rank is not known to lie in the server of the first rank of its block."""
    placed = columns(instance, plan)
    first = np.arange(len(placed.server)) - placed.place_in_block
    return placed.jobs_with(placed.server != placed.server[first])
