"""Collectives of candidates: their times add up to those of the score, and no plan beats the bound."""

from functools import cache

import numpy as np
import pytest

from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.message_bounds import collective_times
from planner.candidates.expand import expand
from planner.fabrics.problem import Problem
from planner.model.instance import Instance
from tests.paths import ROOT


@cache
def _problem(name: str) -> Problem:
    return expand(Instance.load(ROOT / "instances" / "groups" / f"{name}.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["lightpath", "ocs_rail", "sipam"])
def test_times_of_a_served_job_add_up_to_its_communication(fabric: str) -> None:
    problem = _problem(fabric)
    options = next(each for each in problem.options if each.job.name == "experts-serving")
    for row in options.rows_by_value()[:20]:
        found = collective_times(options.candidates, row, problem.cluster.device, problem.cluster.fabric)
        for dimension in {each.dimension for each in found}:
            spent_s = sum(each.calls * each.time_s for each in found if each.dimension == dimension)
            assert spent_s == pytest.approx(options.scores.communication_s[DIMENSIONS.index(dimension), row])


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["lightpath", "ocs_rail", "sipam"])
def test_no_collective_beats_its_bound(fabric: str) -> None:
    problem, rng = _problem(fabric), np.random.default_rng(0)
    seen = set()
    for options in problem.options:
        for row in rng.choice(len(options), 20):
            for each in collective_times(options.candidates, int(row), problem.cluster.device, problem.cluster.fabric):
                seen.add(each.dimension)
                assert each.gap >= -1e-9
                rate = problem.cluster.fabric.limits
                if rate is not None and each.dimension == "data":
                    least_s = 2 * (each.ranks - 1) / each.ranks * each.message_bytes / rate.link_bytes_per_s
                    assert each.bound_s >= least_s * (1 - 1e-12)
    assert {"data", "expert"} <= seen


def test_packets_have_no_bound() -> None:
    problem = _problem("memory_ring")
    options = problem.options[0]
    assert collective_times(options.candidates, 0, problem.cluster.device, problem.cluster.fabric) == ()


@pytest.mark.slow
def test_all_to_alls_over_links_are_held_against_any_wiring_of_them() -> None:
    """Of 128 chips: the busiest link carries 1 of a plain torus of 8 x 4 x 4, 3.44 / 6 of a twisted one."""
    problem = expand(Instance.load(ROOT / "instances" / "torus" / "twisted128.yaml"), prune=False)
    options = next(each for each in problem.options if each.job.name == "mixture")
    gaps = dict[str, float]()
    for row in range(len(options)):
        plan = options.candidates.row_plans(row)[4]
        if plan.ranks == 128:
            (found,) = collective_times(options.candidates, row, problem.cluster.device, problem.cluster.fabric)
            gaps[plan.kind] = found.gap
            assert found.bound_s < found.wiring_bound_s <= found.time_s
    least = (6 + 2 * 30 + 3 * 91) / 128 / 6
    assert gaps["routed"] == pytest.approx(1 / least - 1, rel=0.01)
    assert gaps["twisted"] == pytest.approx(3.4375 / 6 / least - 1, rel=0.02)
