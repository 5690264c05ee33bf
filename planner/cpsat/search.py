"""State of one solve: the problem in force, its model, the best plan so far, no-goods, and the clock."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import count

from planner.candidates.knapsack_bounds import KnapsackBounds
from planner.cpsat.kept import Kept
from planner.cpsat.set_aside import SetAside
from planner.cpsat.step1.model import Model
from planner.cpsat.step1.objectives import OBJECTIVES
from planner.cpsat.step1.size import is_buildable
from planner.fabrics import plugin_of
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import Nogood
from planner.formulation.quantize import exact
from planner.formulation.terms import Term
from planner.model.clock import Clock
from planner.model.plan import Assignment
from planner.model.result import Incumbent, SolveOptions, Start, is_worse
from planner.sweep.over_ray import RayCluster

NOISE = 1e-15
"""relative, of sums in floating point"""
ONE_SCALE = 1e-9
"""of the most value of a job, the least of one whose part in a sum is not taken for noise"""
FEW_DEVICES, FIRST_SHARE_OF_FEW, FIRST_SHARE = 128, 0.9, 0.7
"""few devices; share of the time limit that level 1 may use while others wait, with so few of them and with more"""


@dataclass
class Search:
    """Everything that changes while the levels are solved."""

    full: Problem
    options: SolveOptions
    ray: RayCluster | None = None
    """where racks are planned anew"""
    problem: Problem = field(init=False)
    """the candidates in force"""
    clock: Clock = field(init=False)
    """of all levels"""
    seeds: Iterator[int] = field(init=False)
    """one for each time that plans are recreated"""
    started: float = field(default_factory=time.perf_counter)
    assignments: tuple[Assignment, ...] | None = None
    trace: list[Incumbent] = field(default_factory=list)
    starts: dict[str, Start] = field(default_factory=dict)
    """those that were given"""
    nogoods: list[Nogood] = field(default_factory=list)
    """those of choices that were set aside included"""
    kept: list[Kept] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    has_all_rows: bool = field(init=False)
    """whether every row that could matter to the level is in force"""
    is_stopped: bool = False
    bound: float | None = None
    """best valid bound of the level so far"""
    floor: float = float("-inf")
    """value that plans outside the candidates in force may still have"""
    _model: Model | None = None
    _values: dict[str, tuple[tuple[Assignment, ...] | None, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.problem = self.full
        self.clock, self.seeds = self.options.clock(), count(self.options.seed + 1)
        self.has_all_rows = all(options.is_listed for options in self.full.options)

    @property
    def model(self) -> Model:
        """Step 1 of the candidates in force, which `build` has built."""
        assert self._model is not None
        return self._model

    def build(self, clock: Clock) -> bool:
        """True if step 1 of the candidates in force is there; built when first asked for, if memory and time allow."""
        if self._model is None and is_buildable(self.problem, clock):
            self._model = Model.build(self.problem)
            for nogood in self.nogoods:
                self._model.add_nogood(nogood)
            for kept in self.kept:
                self._add_kept(kept)
        return self._model is not None

    @cached_property
    def _is_one_scale(self) -> bool:
        """True if a sum of values in floating point tells jobs of the least from those of the most value."""
        values = {id(options.value): options.value for options in self.full.options}
        most = [most for value in values.values() if (most := float(value.max(initial=0.0)))]
        return min(most, default=1.0) >= ONE_SCALE * max(most, default=1.0)

    def can_state(self, objective: str) -> bool:
        """True if step 1 is there, and has a term for the objective."""
        return self._model is not None and self._model.can_state(objective)

    @property
    def model_size(self) -> dict[str, float]:
        """Of the last model; nothing where none was built."""
        if self._model is None:
            return {"variables": 0, "constraints": 0}
        proto = self._model.cp.proto
        return {"variables": len(proto.variables), "constraints": len(proto.constraints)}

    @cached_property
    def knapsack(self) -> KnapsackBounds:
        """Bounds on the value of all candidates."""
        return KnapsackBounds.of(self.full)

    @property
    def is_exact(self) -> bool:
        """True if no pattern was forbidden, and no row left out, without proof.

        Where candidates were dropped because others ask for no more in step 1, a no-good, which is more than step 1,
        costs the proof over those that were dropped.
        """
        return not self.set_aside and self.has_all_rows and not self.needs_dropped

    @property
    def needs_dropped(self) -> bool:
        """True if no-goods cost the proof over candidates that were dropped."""
        has_dropped = plugin_of(self.full.cluster.fabric).step_one.drops_by_counts and self.full.num_dominated > 0
        return has_dropped and bool(self.nogoods)

    def forget_what_costs_proof(self) -> None:
        """Where no-goods cost the proof, a bound of step 1 that needs none is worth more."""
        if self.needs_dropped:
            self.nogoods, self.set_aside = [], []

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.started

    @property
    def workers(self) -> int:
        """Threads of the solver; one by default where work limits it, since the order of several depends on time."""
        return self.options.workers or (self.options.deterministic_limit is None and os.cpu_count()) or 1

    def seconds_left(self, level: int) -> float:
        """Wall-clock budget of a level: all levels share what is left, the first takes the most."""
        left, remaining = self.clock.left_s, len(self.full.instance.objectives) - level
        first = FIRST_SHARE_OF_FEW if self.full.cluster.num_healthy <= FEW_DEVICES else FIRST_SHARE
        return left * first if level == 0 and remaining > 1 else left / remaining

    def stop(self) -> None:
        """Somebody asked to stop: finish with what there is."""
        self.is_stopped = True

    def restrict(self, problem: Problem) -> None:
        """Put a problem with fewer candidates in force."""
        self.problem, self._model = problem, None

    def add_nogood(self, nogood: Nogood) -> None:
        """Step 1 proposes it no more, now and after every change of candidates."""
        self.nogoods.append(nogood)
        if self._model is not None:
            self._model.add_nogood(nogood)

    def go_back(self, kept: Sequence[Kept]) -> None:
        """Keep these finished levels and no others."""
        self.kept = [*kept]
        if not kept:
            self.has_all_rows = all(options.is_listed for options in self.full.options)
        self.restrict(self.problem)

    def keep(self, objective: str, tolerance: float, *, is_proven: bool) -> None:
        """Later levels may not fall behind this one by more than its tolerance."""
        value, amounts = self.value(objective), self.amounts(objective)
        assert value is not None
        self.kept.append(Kept(objective, value, tolerance * abs(value), amounts, is_proven))
        if self._model is not None:
            self._add_kept(self.kept[-1])

    def _add_kept(self, kept: Kept) -> None:
        """A value that is proven, and not to be spent, is kept to the last digit."""
        if not self.model.can_state(kept.objective):
            return
        term, cp = self.model.term(kept.objective), self.model.cp
        if isinstance(term.expression, int):
            return
        if kept.amounts is None or kept.spend or not kept.is_proven:
            slack = kept.spend + term.rounding
            edge = term.scale.to_int(kept.value - slack if term.is_maximized else kept.value + slack)
        else:
            term = term.finer(cp, kept.amounts)
            while not term.is_fine:
                term = term.finer(cp, kept.amounts)
            edge = term.steps_of(kept.amounts)
        cp.add(term.expression >= edge if term.is_maximized else term.expression <= edge)

    def holds(self, found: Sequence[Assignment]) -> bool:
        """True if assignments keep every finished level."""
        for kept in self.kept:
            objective = OBJECTIVES[kept.objective]
            value = objective.value(self.full, found)
            if is_worse(value, kept.value, kept.spend, is_maximized=objective.is_maximized):
                return False
        return True

    def value(self, objective: str) -> float | None:
        """Objective of the best plan so far, found once of each plan."""
        if self.assignments is None:
            return None
        if self._values.get(objective, (None, 0.0))[0] is not self.assignments:
            self._values[objective] = self.assignments, OBJECTIVES[objective].value(self.full, self.assignments)
        return self._values[objective][1]

    def amounts(self, objective: str) -> list[float] | None:
        """The amount that each job of the best plan adds to an objective; None where there is none, or it is no sum."""
        return None if self.assignments is None else OBJECTIVES[objective].amounts(self.full, self.assignments)

    def reaches(self, objective: str) -> bool:
        """True if the best plan meets the level's bound, at the resolution of the model's coefficients if any."""
        value = self.value(objective)
        if value is None or self.bound is None or not (self.can_state(objective) or self._is_one_scale):
            return False
        slack = self.model.term(objective).rounding if self.can_state(objective) else NOISE * abs(self.bound)
        is_maximized = OBJECTIVES[objective].is_maximized
        return value >= self.bound - slack if is_maximized else value <= self.bound + slack

    @property
    def is_near(self) -> bool:
        """True if the value of the best plan is as near to its bound as the options ask for."""
        value, gap = self.value("value"), self.options.gap
        return gap > 0 and value is not None and self.bound is not None and value >= (1 - gap) * self.bound

    def reaches_bound(self, rounding: float) -> bool:
        """True if the value of the best plan meets its bound, but for rounding."""
        value = self.value("value")
        return value is not None and self.bound is not None and value >= self.bound - rounding

    @property
    def needs_counts(self) -> bool:
        """True if a level that depends on where jobs lie, not only on how they run, must be kept."""
        return any(OBJECTIVES[kept.objective].depends_on_counts for kept in self.kept)

    def report(self, level: str, bound: float | None, source: str) -> None:
        """Add the best plan's value and a bound to the trace and tell the caller."""
        incumbent = Incumbent(self.elapsed_s, level, self.value(level), bound, source)
        self.trace.append(incumbent)
        if self.options.on_incumbent is not None:
            self.options.on_incumbent(incumbent)

    def tighten(self, level: str, bound: float) -> None:
        """A valid bound over the candidates in force; told to the caller where it improves on the last one."""
        if level == "value":
            bound = max(bound, self.floor)
        if not self.is_exact or (self.bound is not None and abs(bound - self.bound) <= 1e-12 * abs(bound)):
            return
        if self.bound is None or (bound < self.bound if OBJECTIVES[level].is_maximized else bound > self.bound):
            self.bound = bound
            self.report(level, bound, "bound")

    def improves(self, objective: str, term: Term, found: Sequence[Assignment]) -> bool:
        """True if assignments keep the finished levels, and beat the best plan so far on an objective."""
        if self.assignments is None:
            return True
        of = OBJECTIVES[objective]
        old, new = (of.amounts(self.full, plan) for plan in (self.assignments, found))
        if old is None or new is None:
            before, after = (Fraction(of.value(self.full, plan)) for plan in (self.assignments, found))
        else:
            before, after = (sum(map(exact, amounts), Fraction(0)) for amounts in (old, new))
        return (after > before if term.is_maximized else after < before) and self.holds(found)

    def adopt(self, level: str, found: Sequence[Assignment], source: str) -> None:
        """Take assignments as the best plan, where no level before is kept, if they are of more value."""
        of = OBJECTIVES[level]
        old, new = self.value(level), of.value(self.full, found)
        if old is None or is_worse(old, new, is_maximized=of.is_maximized):
            self.assignments = tuple(found)
            self.report(level, self.bound, source)

    def pattern(self) -> Pattern:
        """Choices of the best plan among the candidates in force."""
        assert self.assignments is not None
        return pattern_of(self.problem, self.assignments)


def pattern_of(problem: Problem, assignments: Sequence[Assignment]) -> Pattern:
    """Choices that assignments amount to."""
    pattern: dict[int, Choice] = {}
    index = {options.job.name: j for j, options in enumerate(problem.options)}
    for assignment in assignments:
        options = problem.options[index[assignment.job]]
        row = options.row_of(assignment.configuration)
        assert row is not None, f"{assignment.job} runs in a configuration that is not in force"
        if options.can_stay and not assignment.is_moved:
            pattern[index[assignment.job]] = Choice(row, True, ())
            continue
        counts = Counter(problem.cluster.fabric.parse_device(name)[0] for name in assignment.devices)
        part = options.shapes[row].part
        blocks = tuple((server, count // part) for server, count in sorted(counts.items()))
        pattern[index[assignment.job]] = Choice(row, False, blocks)
    return pattern
