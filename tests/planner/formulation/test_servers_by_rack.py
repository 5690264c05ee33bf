"""A model of servers by rack allows what is asked, and nothing else."""

from itertools import product
from typing import Any

import pytest
from ortools.sat.python import cp_model

from costmodel.pricing.servers_by_rack import ServersOfRack
from planner.formulation.servers_by_rack import AskedOfRacks
from tests.oracles.by_rack import is_asked

RACKS = (0, 0, 0, 1, 1, 4)


@pytest.mark.parametrize("placed", [0, 1])
@pytest.mark.parametrize("asked", [(2,), (1, 2), (1, 1, 1), (3, 2), (2, 2, 1), ServersOfRack(min=1, max=2),
                                   ServersOfRack(min=2, max=3), ServersOfRack(min=4, max=4)])  # fmt: skip
def test_servers_that_may_be_entered(asked: Any, placed: int) -> None:
    model = cp_model.CpModel()
    entered = [model.new_bool_var("") for _ in RACKS]
    if not placed:
        model.add(sum(entered) == 0)
    AskedOfRacks(asked, RACKS).add(model, entered, placed)
    allowed = set()

    class Collector(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            allowed.add(tuple(self.value(literal) for literal in entered))

    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.solve(model, Collector())
    right = set()
    for chosen in product((0, 1), repeat=len(RACKS)):
        racks = [rack for rack, literal in zip(RACKS, chosen, strict=True) if literal]
        counts = [racks.count(rack) for rack in {*racks}]
        is_none = not counts and (not placed or isinstance(asked, ServersOfRack))
        if is_none or (placed and counts and is_asked(asked, counts)):
            right.add(chosen)
    assert allowed == right
