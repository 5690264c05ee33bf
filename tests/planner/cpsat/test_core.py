"""The model of a search: rows of neighbourhoods are in force."""

import pytest

from planner.candidates.expand import expand
from planner.cpsat import core
from planner.cpsat.lns import neighbourhood
from planner.cpsat.search import Search
from planner.heuristics.greedy import place_all
from planner.heuristics.ruin_recreate import RuinRecreate
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from planner.model.instance import Instance
from tests.planner.cpsat.search_cases import OPTIONS
from tests.planner.small_racks import Fields, rack, training

FAT_TREE: Fields = {"cluster": {"device": "h100-sxm", "fabric": {
    "kind": "fat_tree", "servers": 4, "gpus_per_server": 4, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
    "nvlink_energy": "50 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "165 pJ/b",
}}}  # fmt: skip


def test_rows_that_neighbourhoods_choose_are_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of five jobs have three GPUs of a server, one a single GPU: which one, a neighbourhood exchanges."""
    jobs = [training(f"j{i}", [1, 3], batch=12, constraints={"one_server": True}) for i in range(5)]
    problem = expand(Instance.parse(rack(*jobs, objectives=["value"]) | FAT_TREE))
    start, other = (place_all(problem, tightest, job_order=order) for order in (range(5), range(4, -1, -1)))
    assert start is not None
    assert other is not None

    def exchange(search: Search, *_: object) -> None:
        search.assignments = tuple(other)

    monkeypatch.setattr(core, "improve", exchange)
    monkeypatch.setattr(core, "MOST_COUNTS", 0)
    search = Search(problem, OPTIONS)
    search.assignments = tuple(start)
    outcome = core.optimize_value(search, Clock.of(60))
    assert not outcome.is_proven
    assert len(search.pattern()) == 5


def test_a_resident_that_a_neighbourhood_places_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers have other names there: the only one with room is called like the one that the resident left."""
    resident = training("r", [1, 4]) | {
        "devices": [f"s0.g{slot}" for slot in range(4)],
        "configuration": {"data": 4, "block": 4, "micro_batch": 16, "data_collective": {"kind": "ring"}},
    }
    data = rack(residents=[resident], objectives=["value", "moves"]) | FAT_TREE
    health = {"health": {"failed_tiles": ["s0.g3", "s2.g3"]}}
    problem = expand(Instance.parse(data | {"cluster": data["cluster"] | health}))
    options = problem.options[0]
    single = next(row for row in options.rows_by_value() if options.candidates.num_devices[row] == 1)
    search = Search(problem, OPTIONS)
    search.restrict(problem)
    search.assignments = (options.assignment(single, ["s2.g0"], ()),)
    search.bound = 1.0
    monkeypatch.setattr(neighbourhood, "_servers", lambda draw, problem: ((1, 2),))
    neighbourhood.improve(search, core._planned, Clock.of(60))
    (found,) = search.assignments
    assert found.devices == ("s1.g0", "s1.g1", "s1.g2", "s1.g3")
    assert found.is_moved


def test_ruin_and_recreate_ends_where_the_bound_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best bound known, not that of the knapsack alone: a plan that reaches it is not searched on."""
    problem = expand(Instance.parse(rack(training("a", 2), training("b", 2), tiles=2)))
    search = Search(problem, OPTIONS)
    search.assignments = tuple(place_all(problem, tightest) or ())[:1]
    search.bound = search.value("value")
    assert search.bound is not None
    assert search.bound < search.knapsack.bound
    rounds = list[RuinRecreate]()

    def step(state: RuinRecreate) -> bool:
        rounds.append(state)
        return False

    monkeypatch.setattr(RuinRecreate, "step", step)
    core._recreate(search, Clock.of(60), problem, 5)
    assert not rounds
    search.bound *= 1.01
    core._recreate(search, Clock.of(60), problem, 5)
    assert rounds
