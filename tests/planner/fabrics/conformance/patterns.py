"""Random choices of step 1, fit or not: what its constraint groups say of them, and the rules."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from random import Random

import numpy as np
from ortools.sat.python import cp_model

from costmodel.fabrics import FabricBase
from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.solve import plan_of
from planner.cpsat.step1.constraints import groups_of
from planner.fabrics import fabrics
from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Choice, Pattern, route_pattern
from planner.fabrics.problem import Problem
from planner.formulation.solver import new_solver
from planner.formulation.variables import BlockKind, Variables, create_variables
from planner.model.plan import Assignment
from tests.planner.fabrics.conformance.small_clusters import small_instance

MOST_ROWS = 10
"""rows of each job that are drawn from"""
SEEDS, EACH = 30, 4
"""instances of each kind of fabric, and patterns of each instance"""


@dataclass(frozen=True)
class Drawn:
    """Jobs on a small cluster, each in one of its configurations, and on which servers."""

    kind: str
    problem: Problem
    pattern: Pattern
    models: dict[frozenset[str], tuple[cp_model.CpModel, Variables]] = field(default_factory=dict, repr=False)
    """of step 1 with some of its groups alone, shared by the patterns of a problem"""

    def _model(self, groups: frozenset[str]) -> tuple[cp_model.CpModel, Variables]:
        if groups not in self.models:
            cp = cp_model.CpModel()
            v = create_variables(cp, self.problem)
            for name in groups:
                groups_of(fabrics()[self.kind])[name].constraint(cp, v, self.problem)
            self.models[groups] = cp, v
        return self.models[groups]

    def allows(self, groups: Collection[str]) -> bool:
        """Whether step 1 with these groups alone lets the jobs of the pattern lie there, and no other job run."""
        built, v = self._model(frozenset(groups))
        cp = built.clone()
        for j, job in enumerate(v.jobs):
            choice = self.pattern.get(j)
            for row, literal in enumerate(job.rows):
                cp.add(literal == (choice is not None and row == choice.row))
            kind = BlockKind.of(job.options.shapes[choice.row]) if choice is not None else None
            here = dict(choice.blocks) if choice is not None else {}
            for some, counts in job.blocks.items():
                for server, count in enumerate(counts):
                    cp.add(count == (here.get(server, 0) if some == kind else 0))
        solver = new_solver()
        solver.parameters.num_workers = 1
        status = solver.solve(cp)
        assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
        return status == cp_model.OPTIMAL

    @cached_property
    def is_allowed(self) -> bool:
        return self.allows(groups_of(fabrics()[self.kind]))

    @cached_property
    def deciding(self) -> frozenset[str]:
        """Groups without any one of which step 1 would allow what it forbids.

        Without `placement` nothing says which servers a job touches: it is named where no other group decides.
        """
        every = groups_of(fabrics()[self.kind]).keys()
        if self.is_allowed:
            return frozenset()
        found = frozenset(group for group in every if self.allows(every - {group}))
        return found - {"placement"} or found

    @cached_property
    def first_fit(self) -> list[Assignment] | None:
        return route_pattern(self.problem, self.pattern)

    def broken(self, assignments: list[Assignment]) -> set[str]:
        """Rules that a plan of these jobs alone breaks."""
        plan = plan_of(self.problem, assignments)
        return {violation.rule for violation in check(self.problem.instance, plan, starts=True)}

    def without(self, j: int) -> "Drawn":
        return replace(self, pattern={i: choice for i, choice in self.pattern.items() if i != j})

    def smallest(self) -> "Drawn":
        """As few of the jobs as step 1 still forbids: without any one of these that may be absent it allows them."""
        assert not self.is_allowed
        for j in self.may_be_absent:
            fewer = self.without(j)
            if not fewer.is_allowed:
                return fewer.smallest()
        return self

    @property
    def may_be_absent(self) -> list[int]:
        return [j for j in self.pattern if not self.problem.options[j].must_run]


@cache
def drawn(kind: str) -> tuple[Drawn, ...]:
    """Patterns of a kind of fabric, the same ones each time."""
    return tuple(_draw(kind))


@cache
def smallest_forbidden(kind: str) -> tuple[Drawn, ...]:
    return tuple(each.smallest() for each in drawn(kind) if not each.is_allowed)


def _draw(kind: str) -> Iterator[Drawn]:
    for seed in range(SEEDS):
        problem = expand(small_instance(kind, seed), prune=False)
        rng = Random(seed)
        options = [
            each.take(np.array(sorted(rng.sample(range(len(each)), min(len(each), MOST_ROWS))), dtype=np.int64))
            for each in problem.options
        ]
        problem = Problem(problem.instance, tuple(options))
        first = Drawn(kind, problem, {})
        for _ in range(EACH):
            yield replace(first, pattern=_pattern(problem, rng))


def _pattern(problem: Problem, rng: Random) -> Pattern:
    """Rows of some jobs, their blocks on working accelerators, or now and then on too many: no more is counted."""
    cluster = problem.cluster
    pattern: dict[int, Choice] = {}
    free = {server: len(cluster.lit_slots(server)) for server in range(cluster.fabric.num_servers)}
    for j, options in enumerate(problem.options):
        sizes = sorted({(shape.num_ranks, shape.block) for shape in options.shapes})
        rng.shuffle(sizes)
        for size in sizes if rng.random() < 0.9 else ():
            rows = [row for row, shape in enumerate(options.shapes) if (shape.num_ranks, shape.block) == size]
            row = rng.choice(rows)
            placed = _placed(rng, options.shapes[row], free, cluster.fabric, overfull=rng.random() < 0.2)
            if placed is not None:
                pattern[j] = Choice(row, False, tuple(sorted(placed.items())))
                break
    return pattern


def _placed(
    rng: Random, demand: Demand, free: dict[int, int], fabric: FabricBase, *, overfull: bool
) -> dict[int, int] | None:
    """Blocks by server, often as many in each of its racks where a job spans several; None where there is no room."""
    if demand.racks == 1 or rng.random() < 0.2:
        return _spread(rng, demand, free, overfull=overfull)
    counts: dict[int, int] = {}
    for rack in rng.sample(range(fabric.racks), demand.racks):
        own = {server: room for server, room in free.items() if fabric.rack_of(server) == rack}
        part = _spread(rng, demand.in_rack, own, overfull=overfull)
        if part is None:
            return None
        counts |= part
        free |= own
    return counts


def _spread(rng: Random, demand: Demand, free: dict[int, int], *, overfull: bool) -> dict[int, int] | None:
    """Blocks by server; None where there is no room."""
    counts: dict[int, int] = {}
    left = {server: room + demand.part * overfull for server, room in free.items()}
    on = rng.sample(sorted(left), rng.randint(1, len(left)))
    for _ in range(demand.num_parts):
        fits = [server for server in on if left[server] >= demand.part]
        if not fits:
            return None
        server = rng.choice(fits)
        left[server] -= demand.part
        counts[server] = counts.get(server, 0) + 1
    for server, count in counts.items():
        free[server] -= count * demand.part
    return counts
