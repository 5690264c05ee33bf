"""Windows of clusters whose racks are joined."""

from planner.candidates.expand import expand
from planner.cpsat.lns.window import open_window
from planner.policies import find_policy
from tests.planner.fabrics.joined_racks.racks import OPTIONS, SWITCHES, racks


def test_jobs_of_a_window_lie_in_one_rack() -> None:
    """The job of eight would need both racks of the window: it waits."""
    problem = expand(racks(SWITCHES, 4, 8), prune=False)
    window = open_window(problem, (), ((2, 3), (4, 5)), (0, 1))
    assert window.problem.cluster.fabric.upper_layer is None
    assert [len(options) > 0 for options in window.problem.options] == [True, False]
    found = find_policy("cpsat")(window.problem, OPTIONS)
    assert found.plan is not None
    (assignment,) = window.left(found.plan.assignments)
    assert {name[:2] for name in assignment.devices} <= {"r1", "r2"}
    assert assignment.configuration.racks == 1
