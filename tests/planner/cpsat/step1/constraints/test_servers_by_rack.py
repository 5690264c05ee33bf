"""Jobs that ask for numbers of servers of each rack: on rails against enumeration, and on racks that are joined."""

from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.fabrics.free_state import FreeState
from planner.fabrics.search import Search
from planner.heuristics.greedy import place
from planner.heuristics.strategies import tightest
from planner.model.edit import edited
from planner.pipeline import solve
from tests.oracles import rails
from tests.oracles.by_rack import racks_given
from tests.oracles.tiny_by_rack import tiny_rails_by_rack
from tests.planner.fabrics.joined_racks.racks import OPTIONS, PACKETS
from tests.planner.fabrics.joined_racks.racks import racks as joined
from tests.planner.optimum import assert_pruning_changes_no_level, assert_solved_to


@pytest.mark.parametrize("seed", range(12))
def test_values_on_rails_are_the_enumerated_ones(seed: int) -> None:
    instance = tiny_rails_by_rack(seed)
    assert_solved_to(instance, rails.best_value(instance))


@pytest.mark.parametrize("seed", range(4))
def test_dropping_what_cannot_matter_changes_nothing(seed: int) -> None:
    assert_pruning_changes_no_level(tiny_rails_by_rack(seed))


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ((2,), {(2,)}),
        ((1, 1), {(1, 1)}),
        ((2, 2), {(2, 2)}),
        ((1, 1, 1), {(1, 1, 1)}),
        ({"min": 1, "max": 1}, {(1,), (1, 1), (1, 1, 1)}),
        ({"min": 1, "max": 2}, {(1,), (2,), (1, 1), (2, 2), (1, 1, 1)}),
        ((1, 2), set()),
        ((4,), set()),
    ],
)
def test_joined_racks_give_equal_parts(asked: Any, given: set[tuple[int, ...]]) -> None:
    """Of every candidate, on the racks where it is placed by itself if fibers allow that; so have plans."""
    plain = joined(PACKETS, 4)
    limits = {"per_server": 2, "servers_by_rack": asked}
    job = edited(plain.jobs[0], constraints=limits, accelerators=(2, 4, 6, 8))
    instance = edited(plain, jobs=(job,))
    options = expand(instance, prune=False).options[0]
    found = set()
    for row in range(len(options)):
        free = FreeState.empty(instance.cluster)
        placed = place(free, options, Search(tightest), [row])
        if placed is None:
            continue
        servers = [instance.cluster.fabric.parse_device(name)[0] for name in placed.devices]
        found.add(tuple(sorted(racks_given(servers, instance.cluster.fabric))))
    assert found == given
    result = solve(instance, options=OPTIONS)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert bool(result.plan.assignments) == bool(given)
