"""Step 2, first half: which block goes to which server, so that every pair of servers has the wavelengths.

Without wavelengths and fibers of their own this is a relaxation of step 2: small enough to refute most bad counts,
and what it finds is usually routed by first fit.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from ortools.sat.python import cp_model

from planner.demand import Shape
from planner.light import Light
from planner.plan import Assignment
from planner.problem import Problem
from planner.routing import Pattern

Layouts = dict[int, list[int]]
"""Server of each block, by job."""


def reserve(
    cp: cp_model.CpModel,
    shape: Shape,
    on: Mapping[tuple[int, int], cp_model.IntVar],
    pair: tuple[int, int],
    demand: cp_model.LinearExprT,
) -> None:
    """`demand` covers the wavelengths between a pair of servers in every configuration of a job.

    `on[block, server]` says where each block lies.
    """
    a, b = pair
    for widths in shape.between_blocks:
        leaving = []
        for u in range(len(widths)):
            peers = np.flatnonzero(widths[u])
            if len(peers):
                here = cp.new_int_var(0, int(widths[u].sum()), "")
                there = sum(int(widths[u, v]) * on[int(v), b] for v in peers)
                cp.add(here >= there).only_enforce_if(on[u, a])
                leaving.append(here)
        cp.add(sum(leaving) <= demand)


class Ranks:
    """CP-SAT model of the blocks of some jobs on servers, beside the light of residents that stay."""

    def __init__(self, problem: Problem, pattern: Pattern, jobs: Sequence[int], staying: Sequence[Assignment]) -> None:
        self.cp = cp_model.CpModel()
        self.light = Light(problem.cluster)
        for assignment in staying:
            self.light.commit(assignment.circuits)
        self.on: dict[int, dict[tuple[int, int], cp_model.IntVar]] = {}
        self.reserved: dict[tuple[int, int], list[cp_model.IntVar]] = {}
        for j in jobs:
            self._add_job(j, problem.options[j].shapes[pattern[j].row], pattern[j].blocks)
        for (a, b), demands in self.reserved.items():
            self.cp.add(sum(demands) <= self.light.free_wavelengths(a, b))
        self.cp.minimize(sum(sum(demands) for demands in self.reserved.values()))

    def _add_job(self, j: int, shape: Shape, blocks: Sequence[tuple[int, int]]) -> None:
        servers = [server for server, _ in blocks]
        on = self.on[j] = {
            (block, server): self.cp.new_bool_var("") for block in range(shape.num_blocks) for server in servers
        }
        for block in range(shape.num_blocks):
            self.cp.add_exactly_one(on[block, server] for server in servers)
        for server, count in blocks:
            self.cp.add(sum(on[block, server] for block in range(shape.num_blocks)) == count)
        if shape.has_whole_groups and all(plan.kind != "line" for plan in shape.plans):
            # Rings and complete groups look the same from every rank: block 0 may lie anywhere.
            self.cp.add(on[0, servers[0]] == 1)
        for a in servers:
            for b in servers:
                if a != b:
                    demand = self.cp.new_int_var(0, self.light.free_wavelengths(a, b), "")
                    self.reserved.setdefault((a, b), []).append(demand)
                    reserve(self.cp, shape, on, (a, b), demand)

    def layouts(self, solver: cp_model.CpSolver) -> Layouts:
        """Server of each block in a solution."""
        return {
            j: [server for (_, server), literal in sorted(on.items()) if solver.value(literal)]
            for j, on in self.on.items()
        }
