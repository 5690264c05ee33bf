"""Links between racks in step 1."""

import pytest
from ortools.sat.python import cp_model

from planner.candidates.expand import expand
from planner.fabrics.joined_racks.constraints import upper
from planner.formulation.solver import new_solver
from planner.formulation.variables import create_variables
from tests.planner.fabrics.joined_racks.racks import FIBERS, PACKETS, SWITCHES, racks


@pytest.mark.parametrize(
    ("layer", "fits"),
    [
        (PACKETS, True),
        (PACKETS | {"oversubscription": 4}, False),
        (SWITCHES, True),
        (SWITCHES | {"ports": 1}, False),
        (FIBERS, True),
        (FIBERS | {"wavelengths_per_fiber": 1}, False),
    ],
)
def test_jobs_in_the_same_racks_share_their_links(layer: dict[str, object], fits: bool) -> None:
    """Two jobs of two ranks, both in racks 0 and 1 over one link each."""
    problem, cp = expand(racks(layer, 2, 2), prune=False), cp_model.CpModel()
    v = create_variables(cp, problem)
    upper(cp, v, problem)
    for job in v.jobs:
        row = next(k for k, d in enumerate(job.options.shapes) if d.racks == 2 and d.links == 1)
        cp.add(job.rows[row] == 1)
        cp.add(sum(job.rows) == 1)
        assert job.racks is not None
        for rack, inside in enumerate(job.racks.inside):
            cp.add(inside == (rack < 2))
    solver = new_solver()
    solver.parameters.num_workers = 1
    assert (solver.solve(cp) == cp_model.OPTIMAL) == fits
