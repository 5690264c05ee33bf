"""Racks of cubes as a problem of their own: switches between cubes have the names of the window there."""

from typing import Any

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.lns.window import open_window
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.policies import find_policy
from tests.fabrics import FABRICS
from tests.planner.simulate.grounds import BERT

SWITCHES = {"ports": 16, "energy": "5 pJ/b", "reconfiguration": "25 ms"}
CUBES: dict[str, Any] = FABRICS["torus"] | {"racks": 3, "servers": 4, "sides": [2, 2, 2], "switches": SWITCHES}


def _cubes(*failed: str) -> Instance:
    cluster = {"device": "h100-sxm", "fabric": CUBES, "health": {"failed_switches": list(failed)}}
    jobs = [{"name": f"j{i}", "workload": BERT, "accelerators": 16} for i in range(5)]
    data = {"schema_version": 2, "name": "n", "cluster": cluster, "jobs": jobs, "objectives": ["value"]}
    return Instance.parse(data)


def test_failed_switches_of_the_racks_alone() -> None:
    problem = expand(_cubes("r0.x0", "r1.y3", "r2.z2"))
    one = open_window(problem, (), [range(4, 8)], [0]).problem.cluster
    assert one.health.failed_switches == ("y3",)
    two = open_window(problem, (), [range(4, 8), range(8, 12)], [0]).problem.cluster
    assert two.health.failed_switches == ("r0.y3", "r1.z2")


def test_circuits_leave_the_window_with_the_names_of_the_cluster() -> None:
    instance = _cubes("r2.y3")
    for racks, admitted in (([1], 2), ([0, 2], 2), ([2], 0)):
        window = open_window(expand(instance), (), [range(4 * rack, 4 * rack + 4) for rack in racks], range(5))
        found = find_policy("cpsat")(window.problem, SolveOptions(time_limit_s=20.0, workers=1)).plan
        assert found is not None
        placed = window.left(found.assignments)
        plan = Plan(instance="n", assignments=tuple(placed), objectives={"value": sum(a.value for a in placed)})
        assert not check(instance, plan)
        switches = {name for a in placed for held in a.circuits for c in held.circuits for name in c.fibers}
        assert (len(placed), bool(switches)) == (admitted, admitted > 0)
        assert {name[:3] for name in switches} <= {f"r{rack}." for rack in racks}
        assert window.left(window.entered(placed)) == placed
