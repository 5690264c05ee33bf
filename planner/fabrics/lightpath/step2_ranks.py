"""Step 2, first half: which block goes to which server, so that every pair of servers has the wavelengths.

Without wavelengths and fibers of their own this is a relaxation of step 2: small enough to refute most bad counts,
and what it finds is usually routed by first fit.
"""

from collections.abc import Mapping, Sequence
from math import gcd

from ortools.sat.python import cp_model

from planner.fabrics.circuits_between import Between
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.model.plan import Assignment

Layouts = dict[int, list[int]]
"""Server of each block, by job."""


def reserve(
    cp: cp_model.CpModel,
    tables: Sequence[Between],
    on: Mapping[tuple[int, int], cp_model.IntVar],
    source: int,
    destinations: Sequence[int],
    demand: cp_model.LinearExprT,
) -> None:
    """`demand` covers the wavelengths from blocks on a server to blocks on others in every configuration of a job.

    `tables` are the wavelengths from block to block in each configuration, and `on[block, server]` says where each
    block lies. With reversed ones it is the light that enters the server.
    """
    for between in tables:
        leaving = []
        for block, peers in between.leaving():
            here = cp.new_int_var(0, sum(width for _, width in peers), "")
            there = sum(width * on[peer, b] for peer, width in peers for b in destinations)
            cp.add(here >= there).only_enforce_if(on[block, source])
            leaving.append(here)
        cp.add(sum(leaving) <= demand)


class Ranks:
    """CP-SAT model of the blocks of some jobs on servers, beside the light of residents that stay."""

    def __init__(self, problem: Problem, pattern: Pattern, jobs: Sequence[int], staying: Sequence[Assignment]) -> None:
        self.cp = cp_model.CpModel()
        self.light = Spectrum(problem.cluster)
        self.routes = self.light.routes
        for assignment in staying:
            self.light.commit(assignment.circuits)
        self.on: dict[int, dict[tuple[int, int], cp_model.IntVar]] = {}
        self.reserved: dict[tuple[int, int], list[cp_model.IntVar]] = {}
        self.leaving: dict[int, list[cp_model.IntVar]] = {}
        self.entering: dict[int, list[cp_model.IntVar]] = {}
        for j in jobs:
            self._add_job(j, problem.options[j].shapes[pattern[j].row], pattern[j].blocks)
        for server, demands in self.leaving.items():
            self.cp.add(sum(demands) <= self.light.leaving(server))
        for server, demands in self.entering.items():
            self.cp.add(sum(demands) <= self.light.entering(server))
        for (a, b), demands in () if self.routes.may_cross else self.reserved.items():
            self.cp.add(sum(demands) <= self.light.free_wavelengths(a, b))
        hops = self.routes.hops if self.routes.may_cross else None
        costs = {pair: 1 if hops is None else hops[pair[0]][pair[1]] for pair in self.reserved}
        self.cp.minimize(sum(costs[pair] * sum(demands) for pair, demands in self.reserved.items()))

    def _add_job(self, j: int, shape: Demand, blocks: Sequence[tuple[int, int]]) -> None:
        servers = [server for server, _ in blocks]
        on = self.on[j] = {
            (block, server): self.cp.new_bool_var("") for block in range(shape.num_blocks) for server in servers
        }
        for block in range(shape.num_blocks):
            self.cp.add_exactly_one(on[block, server] for server in servers)
        for server, count in blocks:
            self.cp.add(sum(on[block, server] for block in range(shape.num_blocks)) == count)
        is_alike = len(shape.plans) == 3 and all(plan.kind not in ("line", "transfer") for plan in shape.plans)
        if shape.has_whole_groups and is_alike:
            # Rings, complete groups and shifts look the same from every rank: block 0 may lie anywhere.
            self.cp.add(on[0, servers[0]] == 1)
        self._colour(shape, on, servers)
        for a in servers:
            for b in servers:
                if a != b:
                    demand = self.cp.new_int_var(0, self.light.room(a, b), "")
                    self.reserved.setdefault((a, b), []).append(demand)
                    reserve(self.cp, shape.between_blocks, on, a, (b,), demand)
            if self.routes.may_cross:
                self._add_cut(shape, on, a, [b for b in servers if b != a])

    def _colour(self, shape: Demand, on: Mapping[tuple[int, int], cp_model.IntVar], servers: Sequence[int]) -> None:
        """Wavelengths that fibers carry, and the others, colour the light of each rank: what crosses has the former.

        Light from rank to rank is a bipartite graph, whose colourings are flows (Kőnig): they may be of whole multiples
        of what measures all widths.
        """
        carried, most = self.light.carried.bit_count(), self.light.fabric.wavelengths_per_tile
        for _, circuits in shape.configurations:
            ends: dict[tuple[int, int], list[tuple[cp_model.IntVar, int]]] = {}
            grain = gcd(carried, most, *(width for *_, width in circuits))
            for circuit in circuits:
                width, (a, b) = circuit[2] // grain, (rank // shape.block for rank in circuit[:2])
                fits = self.cp.new_int_var(0, width, "")
                for server in servers if a != b else ():
                    self.cp.add(fits == width).only_enforce_if(on[a, server], ~on[b, server])
                for end in (0, 1):
                    ends.setdefault((end, circuit[end]), []).append((fits, width))
            for light in ends.values():
                fitting, whole = sum(fits for fits, _ in light), sum(width for _, width in light)
                if whole * grain > carried:
                    self.cp.add(fitting <= carried // grain)
                    self.cp.add(whole - fitting <= (most - carried) // grain)

    def _add_cut(self, shape: Demand, on: Mapping[tuple[int, int], cp_model.IntVar], a: int, others: list[int]) -> None:
        """Where circuits may cross servers, what leaves and what enters a server is limited, not each pair."""
        out = self.cp.new_int_var(0, self.light.leaving(a), "")
        into = self.cp.new_int_var(0, self.light.entering(a), "")
        self.leaving.setdefault(a, []).append(out)
        self.entering.setdefault(a, []).append(into)
        reserve(self.cp, shape.between_blocks, on, a, others, out)
        reserve(self.cp, [table.reversed for table in shape.between_blocks], on, a, others, into)

    def layouts(self, solver: cp_model.CpSolver) -> Layouts:
        """Server of each block in a solution."""
        return {
            j: [server for (_, server), literal in sorted(on.items()) if solver.value(literal)]
            for j, on in self.on.items()
        }
