"""The bound by what servers have little of: never below the best plan, and below the knapsack where it binds."""

from dataclasses import replace

import pytest

from planner.candidates.expand import expand
from planner.cpsat import scarce
from planner.cpsat.scarce import bound_scarce
from planner.cpsat.search import Search
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.columns import FiberColumns
from planner.formulation.step_one import Scarce
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_five
from tests.planner.cpsat.search_cases import OPTIONS
from tests.planner.small_racks import rack, serving

FOREVER, OVER = Clock(float("inf")), Clock(float("-inf"))
SHORT = (1, 109, 112, 138, 143)
"""seeds of five ranks on lines that carry too little for some rows"""
LINE = {
    "waveguides": "shared", "wavelengths_per_tile": 16, "wavelengths_per_fiber": 16, "max_peers": 8,
    "wavelength_bandwidth": "18.75 GB/s",
}  # fmt: skip


def searched(instance: Instance, options: SolveOptions = OPTIONS) -> Search:
    """From a first plan, with the knapsack's bound."""
    search = Search(expand(instance), options)
    found = place_all(search.full, tightest)
    search.assignments = None if found is None else tuple(found)
    search.bound = search.knapsack.bound
    return search


@pytest.mark.parametrize("seed", SHORT)
def test_no_plan_is_worth_more(seed: int) -> None:
    instance = tiny_five(seed)
    search, best = searched(instance), brute_force(instance)
    before = search.bound
    bound_scarce(search, FOREVER)
    assert search.bound is not None
    assert before is not None
    assert best is not None
    assert best.values["value"] * (1 - 1e-9) <= search.bound < before


def test_two_jobs_share_the_tiles_beside_fibers() -> None:
    """Four ranks that exchange by 5 wavelengths are charged four of the six tiles beside fibers, or boundaries to the
    tiles beyond: one of two jobs has such a row, the other one a row of less value."""
    jobs = [serving(name, 4, model="llama-3.1-70b") for name in "ab"]
    search = searched(Instance.parse(rack(*jobs, servers=3, tiles=4, fibers=1, **LINE)))
    knapsack = search.knapsack.bound
    bound_scarce(search, FOREVER)
    assert search.bound is not None
    most = search.full.options[0].most_value
    assert knapsack == pytest.approx(2 * most)
    assert most < search.bound < 2 * most


def test_rows_that_ask_for_the_same_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    search = searched(tiny_five(SHORT[0]))
    found = FiberColumns.scarce(search.full.cluster)
    asked = list[Demand]()

    def needs(demand: Demand) -> tuple[int, ...] | None:
        asked.append(demand)
        return found.needs(demand)

    counted = Scarce(found.capacities, needs)
    monkeypatch.setattr(FiberColumns, "scarce", lambda cluster: counted)
    bound_scarce(search, FOREVER)
    distinct = {id(demand) for options in search.full.options for demand in options.shapes.distinct[0]}
    assert 0 < len(asked) <= len(distinct) * len(scarce.DEPTHS)
    assert len(asked) < sum(map(len, search.full.options))


def test_a_level_that_is_searched_once_more_keeps_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    search = searched(tiny_five(SHORT[0]))
    bound_scarce(search, FOREVER)
    before = search.bound
    monkeypatch.setattr(scarce, "_bound", None)
    bound_scarce(search, FOREVER)
    assert search.bound == before


def test_without_time_or_a_plan_the_bound_stays() -> None:
    instance = tiny_five(SHORT[0])
    search = searched(instance, replace(OPTIONS, deterministic_limit=None))
    bound_scarce(search, OVER)
    assert search.bound == search.knapsack.bound
    search.assignments = None
    bound_scarce(search, FOREVER)
    assert search.bound == search.knapsack.bound


def test_where_work_is_limited_no_clock_decides_on_the_bound() -> None:
    instance = tiny_five(SHORT[0])
    early, late = searched(instance), searched(instance)
    bound_scarce(early, FOREVER)
    bound_scarce(late, OVER)
    assert early.bound == late.bound != early.knapsack.bound
