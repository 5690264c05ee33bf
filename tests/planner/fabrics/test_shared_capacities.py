"""Rails and uplinks that two jobs share: step 1 allows either, and not both."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import Choice
from planner.fabrics.ocs_rail import constraints as ocs_rail
from planner.fabrics.sipam.demand import PoolDemand
from planner.model.instance import Instance
from tests.fabrics import FABRICS
from tests.oracles.tiny_pools import SMALL, _fabric
from tests.planner.fabrics.conformance.patterns import Drawn

TRAINING = {"kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 128, "micro_batch": 1}


def two_jobs(fabric: dict[str, Any], suits: Callable[[Demand], bool], **health: list[str]) -> Drawn:
    """Two jobs of four ranks, two of them on each of two servers, in the first configuration that suits."""
    jobs = [{"name": name, "workload": TRAINING, "accelerators": 4} for name in ("a", "b")]
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health}
    problem = expand(
        Instance.parse({"schema_version": 1, "name": "two", "cluster": cluster, "jobs": jobs, "objectives": ["value"]}),
        prune=False,
    )

    pattern = {
        j: Choice(
            next(row for row, demand in enumerate(options.shapes) if demand.block == 2 and suits(demand)),
            False,
            ((0, 1), (1, 1)),
        )
        for j, options in enumerate(problem.options)
    }
    return Drawn(fabric["kind"], problem, pattern)


def is_short_for_both(each: Drawn) -> bool:
    return each.without(0).is_allowed and each.without(1).is_allowed and not each.is_allowed


@pytest.mark.parametrize(("failed", "is_short"), [(["q0#0"], True), ([], False)])
def test_rails_whose_switches_work(monkeypatch: pytest.MonkeyPatch, failed: list[str], is_short: bool) -> None:
    """Counted by server also where rails are left to step 2."""
    fabric = FABRICS["ocs_rail"] | {"servers": 2, "gpus_per_server": 4, "switches": 1, "ports": 2}
    monkeypatch.setattr(ocs_rail, "MOST_PLACES", 0)
    assert is_short_for_both(two_jobs(fabric, lambda demand: demand.num_ports == 1, failed_switches=failed)) == is_short


@pytest.mark.slow
@pytest.mark.parametrize(("uplinks", "is_short"), [(2, True), (4, False)])
def test_uplinks_of_a_server(uplinks: int, is_short: bool) -> None:
    fabric = _fabric(Random(0))
    edge = fabric["shoreline"] | {"perimeter_mm": 8 * 6}
    wide = {"racks": 1, "servers": 2, "accelerators_per_server": 4, "shoreline": edge, "spine_rails": 2}
    plenty = {"trays_per_server": 4, "units_per_tray": 16, "tray_ports": 8}

    def suits(demand: Demand) -> bool:
        """Two uplinks on each of two rails."""
        pool = PoolDemand.of(demand)
        return (pool.across, pool.uplinks, demand.held_units) == (2, 2, 4)

    assert is_short_for_both(two_jobs(fabric | wide | plenty | {"uplinks": uplinks}, suits)) == is_short
