"""How large step 1 would be: a model that would not fit in memory, or not be written down in time, is not built."""

from planner.fabrics import plugin_of
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


def literals_of(problem: Problem) -> int:
    """Literals of step 1, roughly."""
    fabric = problem.cluster.fabric
    pairs = plugin_of(fabric).step_one.num_pairs(problem.cluster)
    total = 0
    for options in problem.options:
        shapes = {id(shape): shape for shape in options.shapes}.values()
        kinds = len({BlockKind.of(shape) for shape in shapes})
        classes = len({(shape.tensor, shape.block, *map(id, shape.plans)) for shape in shapes}) if pairs else 0
        total += len(options) + fabric.num_servers * (OF_COUNT * (kinds + 2) + OF_CLASS * classes)
        total += OF_PAIR * pairs if classes else 0
    return total


def is_buildable(problem: Problem, clock: Clock) -> bool:
    """True if step 1 fits in memory and is written down long before the clock is over."""
    return literals_of(problem) <= min(MOST_LITERALS, MOST_SHARE * clock.left_s * LITERALS_PER_SECOND)
