"""Step 1 of a problem, the master problem: variables, constraints, no-goods, and its objectives as integer terms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import perm

from ortools.sat.python import cp_model

from planner.cpsat.step1.constraints import groups_of
from planner.cpsat.step1.hints import hints
from planner.cpsat.step1.objectives import OBJECTIVES
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import MostLit, Nogood
from planner.formulation.step_one import StepOne
from planner.formulation.terms import Term
from planner.formulation.variables import BlockKind, KnownPlan, Variables, create_variables
from planner.model.plan import Assignment

MAX_IMAGES = 2000
"""so many renamings of servers a no-good is repeated for"""
ValueOf = Callable[[cp_model.IntVar], int]
"""Reads a variable of a solution."""


@dataclass
class Model:
    """The CP-SAT model of step 1 and what relates it to patterns."""

    problem: Problem
    cp: cp_model.CpModel
    variables: Variables
    of_fabric: StepOne
    terms: dict[str, Term] = field(default_factory=dict)
    _counts: dict[tuple[int, BlockKind, int, int], cp_model.IntVar] = field(default_factory=dict)

    @classmethod
    def build(cls, problem: Problem) -> "Model":
        """Variables first, then all constraint groups; no objective yet."""
        plugin, cp = plugin_of(problem.cluster.fabric), cp_model.CpModel()
        variables = create_variables(cp, problem)
        for group in groups_of(plugin).values():
            group.constraint(cp, variables, problem)
        plugin.step_one.order_servers(cp, variables, problem)
        return cls(problem, cp, variables, plugin.step_one)

    def can_state(self, objective: str) -> bool:
        """True if the term of an objective is small enough to be built."""
        return OBJECTIVES[objective].can_state(self.problem)

    def term(self, objective: str) -> Term:
        """Integer term of an objective, built when first asked for."""
        if objective not in self.terms:
            self.terms[objective] = OBJECTIVES[objective].term(self.cp, self.variables, self.problem)
        return self.terms[objective]

    def pattern(self, value: ValueOf) -> Pattern:
        """Choices of a solution."""
        pattern: dict[int, Choice] = {}
        for j, job in enumerate(self.variables.jobs):
            if job.stay is not None and value(job.stay):
                assert job.options.current is not None
                pattern[j] = Choice(job.options.current, True, ())
                continue
            row = next((k for k, literal in enumerate(job.rows) if value(literal)), None)
            if row is not None:
                counts = job.blocks[BlockKind.of(job.options.shapes[row])]
                blocks = tuple((s, int(value(c))) for s, c in enumerate(counts) if value(c))
                pattern[j] = Choice(row, False, blocks)
        return pattern

    def most_lit(self, value: ValueOf) -> dict[tuple[int, int], int]:
        """Fibers by ordered pair of servers that a solution allows to carry light."""
        return {pair: int(value(lit)) for pair, lit in self.variables.of_fabric.lit.items()}

    def hint(self, pattern: Pattern, assignments: Sequence[Assignment]) -> None:
        """Replace the solver's hint by a complete one for the shared variables."""
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        names = self.of_fabric.new_names(self.problem, pattern)
        plan = KnownPlan(self.problem, pattern, {a.job: a for a in assignments}, names)
        for variable, value in hints(self.variables, plan):
            self.cp.add_hint(variable, value)

    def add_nogood(self, nogood: Nogood) -> None:
        """Forbid what step 2 proved impossible: these jobs on these counts with these circuits or wider ones.

        Where all servers are alike, the same counts on other servers are forbidden too. With `most_lit` the
        no-good holds only while no more fibers may be lit.
        """
        servers = sorted({s for _, blocks in nogood.placed.values() for s, _ in blocks})
        escape = self._more_lit(nogood.most_lit) if nogood.most_lit is not None else []
        wide = {j: self._as_wide(j, demand) for j, (demand, _) in nogood.placed.items()}
        stays = [job.stay for j in nogood.staying if (job := self.variables.jobs[j]).stay is not None]
        for image in self._images(nogood, servers):
            new_name = dict(zip(servers, image, strict=True))
            literals: list[cp_model.LiteralT] = [*wide.values(), *stays]
            for j, (demand, blocks) in nogood.placed.items():
                if BlockKind.of(demand) in self.variables.jobs[j].blocks:
                    literals += [self.count_is(j, BlockKind.of(demand), new_name[s], n) for s, n in blocks]
            self.cp.add_bool_or([*(~literal for literal in literals), *escape])

    def _images(self, nogood: Nogood, servers: Sequence[int]) -> list[tuple[int, ...]]:
        """Servers on which a no-good holds: its own, or any where all are alike and these are not too many."""
        num_servers = self.problem.cluster.fabric.num_servers
        if self.of_fabric.may_rename(self.problem, nogood) and perm(num_servers, len(servers)) <= MAX_IMAGES:
            return [*permutations(range(num_servers), len(servers))]
        return [tuple(servers)]

    def _as_wide(self, j: int, demand: Demand) -> cp_model.IntVar:
        """Literal: job j has a row that asks for as much as `demand` or more."""
        job = self.variables.jobs[j]
        rows = [
            literal
            for literal, other in zip(job.rows, job.options.shapes, strict=True)
            if demand.needs_no_more_than(other)
        ]
        if len(rows) == 1:
            return rows[0]
        chosen = self.cp.new_bool_var("")
        self.cp.add(sum(rows) == chosen)
        return chosen

    def count_is(self, j: int, kind: BlockKind, server: int, count: int) -> cp_model.IntVar:
        """Literal: job j has exactly so many blocks on a server."""
        key = (j, kind, server, count)
        if key not in self._counts:
            literal = self.cp.new_bool_var("")
            blocks = self.variables.jobs[j].blocks[kind][server]
            self.cp.add(blocks == count).only_enforce_if(literal)
            self.cp.add(blocks != count).only_enforce_if(~literal)
            self._counts[key] = literal
        return self._counts[key]

    def _more_lit(self, most_lit: MostLit) -> list[cp_model.IntVar]:
        """Literals of which one must hold for more fibers to be lit than in a no-good."""
        wider = []
        for pair, most in most_lit.items():
            literal = self.cp.new_bool_var("")
            self.cp.add(self.variables.of_fabric.lit[pair] >= most + 1).only_enforce_if(literal)
            wider.append(literal)
        return wider
