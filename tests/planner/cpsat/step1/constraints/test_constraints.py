"""One constraint group at a time: create variables, add the group, fix choices, ask if it is solvable."""

import pytest
from ortools.sat.python import cp_model

from planner.candidates.expand import expand
from planner.cpsat.step1.constraints import groups_of
from planner.fabrics import plugin_of
from planner.formulation.variables import create_variables
from planner.model.instance import Instance
from tests.paths import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lumorph/golden", "ocs_rail/rails64", "torus/sipac64", "sipam/phases"])
def test_groups_work_in_any_order_and_all_together(name: str) -> None:
    problem = expand(Instance.load(ROOT / "instances" / f"{name}.yaml"))
    groups = groups_of(plugin_of(problem.cluster.fabric))
    for names in ([*groups], [*reversed(groups)]):
        cp = cp_model.CpModel()
        v = create_variables(cp, problem)
        for each in names:
            groups[each].constraint(cp, v, problem)
        cp.add(sum(job.admitted for job in v.jobs) >= 1)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        assert solver.solve(cp) == cp_model.OPTIMAL
