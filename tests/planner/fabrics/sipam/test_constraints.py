"""Capacity of uplinks, and no more."""

from random import Random

import pytest

from planner.fabrics.demand import Demand
from planner.fabrics.sipam.demand import PoolDemand
from tests.oracles.tiny_pools import pool_fabric
from tests.planner.fabrics.shared_capacities_cases import is_short_for_both, two_jobs


@pytest.mark.slow
@pytest.mark.parametrize(("uplinks", "is_short"), [(2, True), (4, False)])
def test_uplinks_of_a_server(uplinks: int, is_short: bool) -> None:
    fabric = pool_fabric(Random(0))
    edge = fabric["shoreline"] | {"perimeter_mm": 8 * 6}
    wide = {"racks": 1, "servers": 2, "accelerators_per_server": 4, "shoreline": edge, "spine_rails": 2}
    plenty = {"trays_per_server": 4, "units_per_tray": 16, "tray_ports": 8}

    def suits(demand: Demand) -> bool:
        """Two uplinks on each of two rails."""
        pool = PoolDemand.of(demand)
        return (pool.across, pool.uplinks, demand.held_units) == (2, 2, 4)

    assert is_short_for_both(two_jobs(fabric | wide | plenty | {"uplinks": uplinks}, suits)) == is_short
