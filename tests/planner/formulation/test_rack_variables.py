"""Racks and links of jobs in step 1."""

from ortools.sat.python import cp_model

from planner.candidates.expand import expand
from planner.formulation.rack_variables import RackVariables
from tests.planner.fabrics.joined_racks.racks import FIBERS, PACKETS, racks


def test_hints_say_where_a_job_is_and_what_it_holds() -> None:
    for upper, held in ((PACKETS, {(0,): 1, (1,): 0, (2,): 1}), (FIBERS, {(0, 2): 1, (2, 0): 1})):
        problem = expand(racks(upper, 8), prune=False)
        (options,) = problem.options
        variables = RackVariables.of(cp_model.CpModel(), "j0", options, problem.cluster)
        demand = next(demand for demand in options.shapes if demand.racks == 2 and demand.links == 1)
        hints = {variable.index: value for variable, value in variables.hints(demand, [0, 2])}
        assert [hints[inside.index] for inside in variables.inside] == [True, False, True]
        assert {part: hints[links.index] for part, links in variables.links.items() if hints[links.index]} == {
            part: links for part, links in held.items() if links
        }
        assert not any(value for _, value in variables.hints(None, []))
        assert variables.staying == {}
