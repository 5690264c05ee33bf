"""Jobs over racks against enumeration of the whole, and what more racks and links may do to value."""

from itertools import pairwise

import pytest

from costmodel.fabrics.across_racks import racks_of
from costmodel.parallelism.configuration import Collective
from costmodel.parallelism.mappings import DIMENSIONS
from planner.candidates.expand import expand
from planner.checks import check
from planner.model.edit import with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.whatif.comparable import measured_against, references
from tests.oracles.brute_force_racks import most_value
from tests.oracles.tiny_racks import tiny_racks, tiny_racks_of_phases, tiny_racks_of_pools, tiny_racks_of_slices
from tests.planner.fabrics.joined_racks.racks import FIBERS, KINDS, SWITCHES, best, racks
from tests.planner.optimum import assert_pruning_changes_no_level

NUM_SEEDS = 24
SLOW = {14}
"""seeds whose enumeration takes longer than a second"""
POOL_SEEDS = (3, 5, 7, 9, 11, 22, 26, 28, 32, 33, 39, 43)
PHASED_SEEDS = (0, 3, 4, 9, 13, 14, 17)
"""those that are enumerated in a moment"""
CIRCULANT_CASES = ((11, 4), (45, 2), (45, 4), (107, 4), (164, 2), (164, 4))
"""seeds and accelerators of a server with which some group over racks is offered a circulant in each of them"""


def _assert_best(instance: Instance) -> list[Collective]:
    """The plan obeys the rules and is worth as much as the best of all ways; what its jobs run along data."""
    plan = best(instance)
    assert check(instance, plan, starts=True) == []
    assert plan.objectives["value"] == pytest.approx(most_value(instance), rel=1e-6, abs=1e-9)
    return [job.configuration.data_collective for job in plan.assignments]


@pytest.mark.slow
@pytest.mark.parametrize("seed", sorted({*range(NUM_SEEDS)} - SLOW))
def test_value_is_that_of_the_best_of_all_ways(seed: int) -> None:
    _assert_best(tiny_racks(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_value_of_slices_over_racks_is_that_of_the_best_of_all_ways(seed: int) -> None:
    _assert_best(tiny_racks_of_slices(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", POOL_SEEDS)
def test_value_of_pools_over_racks_is_that_of_the_best_of_all_ways(seed: int) -> None:
    _assert_best(tiny_racks_of_pools(seed))


@pytest.mark.slow
def test_value_of_pools_over_racks_with_circulants_is_that_of_the_best_of_all_ways() -> None:
    """In some plans a job over racks runs over one."""
    held: set[str] = set()
    for seed, accelerators in CIRCULANT_CASES:
        instance = tiny_racks_of_pools(seed, collectives="circulants", accelerators_per_server=accelerators)
        rows = [options.candidates for options in expand(instance).options]
        offered = {each.plans[number] for each in rows for number in each.plan[DIMENSIONS.index("data")].tolist()}
        assert any(plan.kind == "circulant" and racks_of(plan) > 1 for plan in offered)
        held |= {f"{used.kind} {used.racks > 1}" for used in _assert_best(instance)}
    assert "circulant True" in held


@pytest.mark.slow
@pytest.mark.parametrize("seed", PHASED_SEEDS)
def test_value_of_pools_over_racks_by_phase_is_that_of_the_best_of_all_ways(seed: int) -> None:
    _assert_best(tiny_racks_of_phases(seed))


@pytest.mark.slow
def test_pools_over_racks_without_dominated_rows_have_the_same_optimum() -> None:
    for seed in POOL_SEEDS[::4]:
        assert_pruning_changes_no_level(tiny_racks_of_pools(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_larger_than_a_rack_runs_where_racks_are_joined(kind: str) -> None:
    instance = racks(KINDS[kind], 8, 4)
    plan = best(instance)
    assert check(instance, plan, starts=True) == []
    assert plan.admitted == ("j0", "j1")
    assert plan["j0"].configuration.racks == 2
    assert bool(plan["j0"].upper) == (kind != "packets")


def _value(instance: Instance, first: Instance) -> float:
    """Measured by the same references, so that values compare."""
    return best(measured_against(instance, references(first))).objectives["value"]


@pytest.mark.slow
def test_more_links_and_more_racks_never_lower_value() -> None:
    ports = [racks(SWITCHES | {"ports": number}, 6, 6, 4) for number in (1, 2, 4)]
    fibers = [racks(FIBERS | {"fibers": number}, 6, 6, 4) for number in (0, 1, 2)]
    more = [racks(SWITCHES, 8, 8, racks=number) for number in (2, 3, 4)]
    for instances in (ports, fibers, more):
        values = [_value(instance, instances[-1]) for instance in instances]
        assert all(before <= after + 1e-9 for before, after in pairwise(values)), values
    assert _value(more[0], more[-1]) < _value(more[-1], more[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_plans_are_written_and_read_again(kind: str) -> None:
    instance = racks(KINDS[kind], 8)
    plan = best(instance)
    assert Plan.model_validate_json(plan.model_dump_json(by_alias=True)) == plan
    assert with_fabric(instance, upper=instance.cluster.fabric.upper_layer) == instance
