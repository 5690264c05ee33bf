"""Wiring of a pool: first fit against the exact search, and parts of many jobs by name."""

from random import Random

import pytest

from planner.checks import check
from planner.fabrics import fabrics
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import first_fit
from planner.fabrics.sipam.server_pool import FreeServer
from planner.fabrics.sipam.step2 import Part, wire
from planner.formulation.step_two import StepTwoLimits
from planner.model import files
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.planner.checks.plans import SERVING, TRAINING


def limits(seconds: float) -> StepTwoLimits:
    return StepTwoLimits(time_limit_s=seconds, deterministic_limit=None, workers=1, seed=0)


@pytest.mark.parametrize("seed", range(30))
def test_first_fit_finds_nothing_that_the_exact_wiring_refutes(seed: int) -> None:
    rng = Random(seed)
    trays, port_units = rng.choice((1, 2, 3)), rng.choice((1, 2, 3))
    units = [[*range(rng.randint(0, 6))] for _ in range(trays)]
    ports = {rail: [[*range(rng.randint(0, 2))] for _ in range(trays)] for rail in range(rng.choice((1, 2, 3)))}
    rack = FreeServer(units, ports, (), {})
    number = rng.randint(1, 5)
    demand = PoolDemand(number, -(-number // port_units), 0, 0, 0)
    ranks = rng.randint(1, 3)
    exact = wire(rack, {0: Part(demand, ranks)}, port_units, limits(5.0))
    found = first_fit(rack.counts, demand, ranks, [*ports], port_units)
    assert exact.found is not None or exact.is_impossible
    if exact.is_impossible:
        assert found is None
    for plugs in [found, *([exact.found[0].plugs] if exact.found is not None else [])]:
        if plugs is not None:
            assert [sum(size for *_, size in each) for each in plugs] == [number] * ranks
            assert all(len({rail for rail, *_ in each}) == len(each) == demand.memory_io for each in plugs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_jobs_that_share_a_server_hold_no_part_twice(seed: int) -> None:
    """Step 2 names units, ports and uplinks of one job after another."""
    rng = Random(seed)
    text = fabrics()["sipam"].template.text(servers=2, tiles=3, fibers=0)
    sizes = rng.choices((1, 1, 2, 3, 4), k=3)
    jobs = [
        {"name": f"j{n}", "workload": SERVING if size == 1 else TRAINING, "accelerators": size}
        for n, size in enumerate(sizes)
    ]
    cluster = {"device": "h100-sxm", "fabric": files.parse_text(text, "sipam")["fabric"]}
    instance = Instance.parse({"schema_version": 2, "name": "shared", "cluster": cluster, "jobs": jobs})
    plan = solve(instance, options=SolveOptions(time_limit_s=5, workers=1, seed=seed)).plan
    assert plan is not None
    assert check(instance, plan) == []
