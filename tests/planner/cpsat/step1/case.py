"""One constraint group over fixed variables: what is chosen, where it lies, which light it has."""

from typing import Any

from ortools.sat.python import cp_model

from planner.candidates.expand import expand
from planner.cpsat.step1.constraints import groups_of
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.step1_variables import light_variables
from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind, Variables, create_variables
from planner.model.instance import Instance
from tests.planner.small_racks import Fields, rack

Placed = dict[int, dict[int, int]]
"""Blocks by server, by job."""


def problem_of(*jobs: Fields, **changes: Any) -> Problem:
    return expand(Instance.parse(rack(*jobs, **changes)), prune=False)


def row_of(problem: Problem, j: int, **wanted: Any) -> int:
    """First row whose shape has these fields; `ring` and `line` ask for one of such a width."""
    ring, line = wanted.pop("ring", None), wanted.pop("line", None)

    def fits(shape: Demand) -> bool:
        widths = {plan.kind: plan.wavelengths for plan in shape.plans}
        return (
            all(getattr(shape, name) == value for name, value in wanted.items())
            and (ring is None or widths.get("ring") == (ring,))
            and (line is None or widths.get("line") == (line,))
        )

    return next(row for row, shape in enumerate(problem.options[j].shapes) if fits(shape))


class Case:
    """Variables of a problem under one group, fixed step by step."""

    def __init__(self, problem: Problem, group: str) -> None:
        self.problem = problem
        self.cp = cp_model.CpModel()
        self.v: Variables = create_variables(self.cp, problem)
        groups_of(plugin_of(problem.cluster.fabric))[group].constraint(self.cp, self.v, problem)

    def choose(self, rows: dict[int, tuple[int, ...]], stays: tuple[int, ...] = ()) -> "Case":
        for j, job in enumerate(self.v.jobs):
            for row, literal in enumerate(job.rows):
                self.cp.add(literal == (row in rows.get(j, ())))
            if job.stay is not None:
                self.cp.add(job.stay == (j in stays))
        return self

    def place(self, placed: Placed, rows: dict[int, int]) -> "Case":
        """Fix blocks; those of other kinds are 0."""
        for j, job in enumerate(self.v.jobs):
            here = placed.get(j, {})
            kind = BlockKind.of(job.options.shapes[rows[j]]) if j in rows else None
            for some, counts in job.blocks.items():
                for server, count in enumerate(counts):
                    self.cp.add(count == (here.get(server, 0) if some == kind else 0))
        return self

    def touch(self, placed: Placed) -> "Case":
        """Fix where jobs lie, as their blocks say."""
        for j, job in enumerate(self.v.jobs):
            here = placed.get(j, {})
            for server, (touched, whole) in enumerate(zip(job.touched, job.whole, strict=True)):
                self.cp.add(touched == (server in here))
                self.cp.add(whole == ([*here] == [server]))
            self.cp.add(job.spans == (len(here) > 1))
        return self

    def light(self, reserved: dict[tuple[int, int, int], int]) -> "Case":
        for j, job in enumerate(light_variables(self.v).jobs):
            for (a, b), light in job.reserved.items():
                self.cp.add(light == reserved.get((j, a, b), 0))
        return self

    def is_solvable(self) -> bool:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        status = solver.solve(self.cp)
        assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
        return status == cp_model.OPTIMAL
