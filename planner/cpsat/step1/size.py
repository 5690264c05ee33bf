"""How large step 1 would be: a model that would not fit in memory, or not be written down in time, is not built."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind
from planner.model.clock import Clock

MOST_LITERALS = 1_500_000
"""in all constraints together: about 2 GB with the copies that the solver makes"""
LITERALS_PER_SECOND = 200_000
"""that are written down, on a slow core"""
MOST_SHARE = 0.5
"""of the time left that writing a model down may take"""
OF_COUNT, OF_PAIR, OF_CLASS = 3, 8, 6
"""literals of a job for each kind of block on a server, pair of servers with fibers, class of light on a server"""


def has_more_literals(problem: Problem, most: float) -> bool:
    """Whether step 1 has more literals than so many, roughly."""
    return any(number > most for number in accumulate(_literals_by_job(problem)))


def _literals_by_job(problem: Problem) -> Iterator[int]:
    fabric = problem.cluster.fabric
    pairs = plugin_of(fabric).step_one.num_pairs(problem.cluster)
    known: dict[int, tuple[int, int]] = {}
    for options in problem.options:
        if id(options.shapes) not in known:
            known[id(options.shapes)] = _kinds_and_classes(options.shapes.distinct[0], has_pairs=pairs > 0)
        kinds, classes = known[id(options.shapes)]
        by_server = fabric.num_servers * (OF_COUNT * (kinds + 2) + OF_CLASS * classes)
        yield len(options) + by_server + (OF_PAIR * pairs if classes else 0)


def may_be_buildable(num_jobs: int, num_servers: int, clock: Clock) -> bool:
    """False where no model of so many jobs, each of one candidate, is buildable."""
    return num_jobs * num_servers * OF_COUNT * 2 <= _most_literals(clock)


def _kinds_and_classes(demands: Sequence[Demand], *, has_pairs: bool) -> tuple[int, int]:
    """Kinds of blocks, and classes of light where pairs of servers have fibers."""
    kinds = len({BlockKind.of(demand) for demand in demands})
    return kinds, len({(d.tensor, d.block, *map(id, d.plans)) for d in demands}) if has_pairs else 0


def is_buildable(problem: Problem, clock: Clock) -> bool:
    """True if step 1 fits in memory and is written down long before the clock is over."""
    return not has_more_literals(problem, _most_literals(clock))


def _most_literals(clock: Clock) -> float:
    return min(MOST_LITERALS, MOST_SHARE * clock.left_s * LITERALS_PER_SECOND)
