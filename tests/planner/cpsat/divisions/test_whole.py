"""Plans of jobs that lie in one server each: against every assignment of jobs to servers."""

from collections import Counter
from itertools import product
from random import Random

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.core import optimize_value
from planner.cpsat.divisions.whole import may_pack, pack_whole
from planner.cpsat.solve import plan_of
from planner.fabrics.problem import Problem
from planner.model.clock import Clock
from planner.model.instance import Instance
from tests.planner.cpsat.divisions.division_cases import exchanging, problem_of, search_of
from tests.planner.small_racks import rack, serving, training


def most_value(problem: Problem) -> float:
    """Of all jobs on one server each, or waiting, tried one by one."""
    cluster = problem.cluster
    rooms = [len(cluster.healthy_slots(server)) for server in range(cluster.fabric.num_servers)]
    by_ranks = list[dict[int, float]]()
    for options in problem.options:
        most = {0: 0.0}
        for ranks, value in zip(options.candidates.num_devices.tolist(), options.value.tolist(), strict=True):
            most[ranks] = max(most.get(ranks, 0.0), value)
        by_ranks.append(most)
    return max(
        sum(most[ranks] for most, ranks in zip(by_ranks, chosen, strict=True))
        for chosen in product(*by_ranks)
        if any(_fits(chosen, servers, rooms) for servers in product(range(len(rooms)), repeat=len(chosen)))
    )


def _fits(chosen: tuple[int, ...], servers: tuple[int, ...], rooms: list[int]) -> bool:
    taken = Counter[int]()
    for ranks, server in zip(chosen, servers, strict=True):
        taken[server] += ranks
    return all(taken[server] <= room for server, room in enumerate(rooms))


@pytest.mark.parametrize("seed", range(8))
def test_no_other_plan_of_whole_jobs_is_worth_more(seed: int) -> None:
    draw = Random(seed)
    jobs = [training(f"j{i}", sorted(draw.sample([1, 2, 3, 4], 2)), weight=draw.randint(1, 4)) for i in range(5)]
    failed = [f"s{server}.t{draw.randrange(4)}" for server in range(3) if draw.random() < 0.5]
    problem = problem_of(*jobs, servers=3, health={"failed_tiles": failed})
    search = search_of(problem)
    pack_whole(search, Clock.of(600.0))
    assert search.assignments is not None
    assert search.value("value") == pytest.approx(most_value(problem), rel=1e-7)
    assert all(len({name.split(".")[0] for name in each.devices}) == 1 for each in search.assignments)
    assert check(problem.instance, plan_of(problem, search.assignments), starts=True) == []


def test_a_plan_that_meets_the_knapsack_is_proven_without_more() -> None:
    search = search_of(problem_of(training("a", 4), training("b", 4), training("c", 4)))
    search.bound = search.knapsack.bound
    assert pack_whole(search, Clock.of(600.0))
    assert search.value("value") == pytest.approx(search.knapsack.bound)
    assert optimize_value(search_of(search.full), Clock.of(600.0)).is_proven


def test_jobs_that_have_to_span_servers_are_left_to_others() -> None:
    """Devices of two servers would do, those of one do not."""
    search = search_of(problem_of(exchanging(), health={"failed_tiles": ["s0.t0", "s1.t0"]}))
    assert not pack_whole(search, Clock.of(600.0))
    assert search.assignments is None
    search = search_of(problem_of(exchanging(required=True), health={"failed_tiles": ["s0.t0", "s1.t0"]}))
    assert not pack_whole(search, Clock.of(600.0))


def test_where_slots_matter_or_residents_stay_bin_packing_does_not_say_all() -> None:
    assert may_pack(search_of(problem_of(serving("a", 2))))
    assert not may_pack(search_of(problem_of(serving("a", 2), waveguides="shared")))
    resident = serving("r", 1, devices=["s0.t0"], configuration={"micro_batch": 8})
    problem = expand(Instance.parse(rack(serving("a", 2), residents=[resident])))
    assert problem.options[0].can_stay
    assert not may_pack(search_of(problem))
