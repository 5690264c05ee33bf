"""Step 2, first half: which block goes to which server, so that every pair of servers has the wavelengths.

Without wavelengths and fibers of their own this is a relaxation of step 2: small enough to refute most bad counts,
and what it finds is usually routed by first fit.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from planner.demand import Shape
from planner.light import Light
from planner.plan import Assignment
from planner.problem import Problem
from planner.routing import Pattern

Layouts = dict[int, list[int]]
"""Server of each block, by job."""


class Ranks:
    """CP-SAT model of the blocks of some jobs on servers, beside the light of residents that stay."""

    def __init__(
        self, problem: Problem, pattern: Pattern, jobs: Sequence[int], staying: Sequence[Assignment]
    ) -> None:
        self.cp = cp_model.CpModel()
        self.pattern = pattern
        self.light = Light(problem.cluster)
        for assignment in staying:
            self.light.commit(assignment.circuits)
        self.on: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self.reserved: dict[tuple[int, int], list[cp_model.IntVar]] = {}
        for j in jobs:
            self._add_job(j, problem.options[j].shapes[pattern[j].row])
        for (a, b), demands in self.reserved.items():
            self.cp.add(sum(demands) <= self.light.free_wavelengths(a, b))
        self.cp.minimize(sum(sum(demands) for demands in self.reserved.values()))

    def _add_job(self, j: int, shape: Shape) -> None:
        servers = [server for server, _ in self.pattern[j].blocks]
        for block in range(shape.num_blocks):
            for server in servers:
                self.on[j, block, server] = self.cp.new_bool_var("")
            self.cp.add_exactly_one(self.on[j, block, server] for server in servers)
        for server, count in self.pattern[j].blocks:
            self.cp.add(sum(self.on[j, block, server] for block in range(shape.num_blocks)) == count)
        if all(plan.kind != "line" for plan in shape.plans):
            # Rings and complete groups look the same from every rank: block 0 may lie anywhere.
            self.cp.add(self.on[j, 0, servers[0]] == 1)
        between = shape.between_blocks
        for a in servers:
            for b in servers:
                if a != b:
                    self._reserve(j, a, b, between)

    def _reserve(self, j: int, a: int, b: int, between: Sequence[NDArray[np.int64]]) -> None:
        """Wavelengths from a to b: the most that any configuration of the job needs."""
        most = max(self.light.free_wavelengths(a, b), 0)
        demand = self.cp.new_int_var(0, most, "")
        self.reserved.setdefault((a, b), []).append(demand)
        for widths in between:
            leaving = []
            for u in range(len(widths)):
                peers = np.flatnonzero(widths[u])
                if len(peers):
                    here = self.cp.new_int_var(0, int(widths[u].sum()), "")
                    there = sum(int(widths[u, v]) * self.on[j, int(v), b] for v in peers)
                    self.cp.add(here >= there).only_enforce_if(self.on[j, u, a])
                    leaving.append(here)
            self.cp.add(sum(leaving) <= demand)

    def layouts(self, solver: cp_model.CpSolver) -> Layouts:
        """Server of each block in a solution."""
        layouts: Layouts = {}
        for (j, block, server), literal in self.on.items():
            if solver.value(literal):
                layouts.setdefault(j, []).append(server)
                assert len(layouts[j]) == block + 1
        return layouts
