"""Ways on servers, alone and together."""

from planner.cpsat.divisions.place import alone, together
from planner.cpsat.divisions.ways import Way
from planner.fabrics.problem import Problem
from planner.model.clock import Clock
from tests.planner.cpsat.divisions.division_cases import exchanging, problem_of, search_of, ways
from tests.planner.small_racks import training


def way(problem: Problem, j: int, *division: int) -> Way:
    return next(each for each in ways(problem, j).open() if each.division == division)


def test_way_stands_alone_where_fibers_carry_it() -> None:
    for fibers, stands in ((2, True), (1, False)):
        problem = problem_of(exchanging(), fibers=fibers)
        realized = alone(search_of(problem), way(problem, 0, 2, 2), Clock.of(60.0))
        assert (realized.assignments is not None) == stands
        assert bool(realized.nogood) != stands


def test_ways_together_lie_as_they_are_divided() -> None:
    problem = problem_of(exchanging("a"), exchanging("b"), fibers=4)
    realized = together(search_of(problem), [way(problem, 0, 2, 2), way(problem, 1, 2, 2)], Clock.of(60.0))
    assert realized.assignments is not None
    parse = problem.cluster.fabric.parse_device
    for assignment in realized.assignments:
        servers = [parse(device)[0] for device in assignment.devices]
        assert sorted(servers) == [0, 0, 1, 1]


def test_ways_that_need_the_same_fibers_exclude_each_other() -> None:
    problem = problem_of(exchanging("a"), exchanging("b"))
    chosen = [way(problem, 0, 2, 2), way(problem, 1, 2, 2)]
    assert together(search_of(problem), chosen, Clock.of(60.0)).nogood == (0, 1)


def test_ways_that_need_one_server_twice_exclude_each_other() -> None:
    problem = problem_of(exchanging("a"), training("b", 4, constraints={"one_server": True}), servers=2, fibers=4)
    assert together(search_of(problem), [way(problem, 0, 2, 2), way(problem, 1, 4)], Clock.of(60.0)).nogood == (0, 1)
