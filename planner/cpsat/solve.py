"""Run step 1 and step 2 in turn, level by level, and say what was proven."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from planner.cpsat.evaluate import evaluate
from planner.cpsat.model import Model
from planner.cpsat.objectives import Term
from planner.cpsat.realize import StepTwoLimits, realize
from planner.cpsat.run import Outcome, run
from planner.plan import Assignment, Plan
from planner.problem import Problem
from planner.result import Incumbent, LeftOut, Level, Result, SolveOptions, Status, relative_gap
from planner.routing import Choice, Pattern, route_pattern

FIRST_SHARE = 0.7
"""share of the time limit that level 1 may use while others wait"""


@dataclass
class Search:
    """State of one solve: the model, the best plan so far, and the clock."""

    problem: Problem
    options: SolveOptions
    model: Model
    started: float = field(default_factory=time.perf_counter)
    assignments: tuple[Assignment, ...] | None = None
    pattern: Pattern = field(default_factory=dict)
    levels: list[Level] = field(default_factory=list)
    trace: list[Incumbent] = field(default_factory=list)
    num_refuted: int = 0
    num_undecided: int = 0
    is_exact: bool = True
    """no pattern was forbidden without proof"""
    is_stopped: bool = False

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self.started

    def workers(self) -> int:
        return self.options.workers or os.cpu_count() or 1

    def report(self, level: str, objective: float | None, bound: float | None, source: str) -> None:
        """Add to the trace and tell the caller."""
        incumbent = Incumbent(self.elapsed_s, level, objective, bound, source)
        self.trace.append(incumbent)
        if self.options.on_incumbent is not None:
            self.options.on_incumbent(incumbent)

    def adopt(self, assignments: Sequence[Assignment], pattern: Pattern) -> None:
        self.assignments, self.pattern = tuple(assignments), pattern

    def seconds_left(self, level: int) -> float:
        """Wall-clock budget of a level: all levels share what is left, the first takes the most."""
        left = max(self.options.time_limit_s - self.elapsed_s, 0.0)
        remaining = len(self.problem.instance.objectives) - level
        if remaining == 1:
            return left
        return left * FIRST_SHARE if level == 0 else left / remaining


def search_levels(
    problem: Problem, options: SolveOptions, starts: Sequence[tuple[str, Sequence[Assignment]]]
) -> Result:
    """Solve every level of the lexicographic order, starting from the best of the given plans."""
    search = Search(problem, options, Model.build(problem))
    first = problem.instance.objectives[0].name
    _adopt_best_start(search, starts)
    for index, objective in enumerate(problem.instance.objectives):
        outcome = _level(search, index, objective.name)
        search.levels.append(outcome)
        if search.assignments is None:
            return _finish(search, Status.INFEASIBLE if outcome.status is Status.INFEASIBLE else Status.NO_PLAN)
        _keep(search, objective.name, objective.tolerance)
    assert first == search.levels[0].objective
    proven = all(level.status is Status.OPTIMAL for level in search.levels)
    return _finish(search, Status.OPTIMAL if proven else Status.FEASIBLE)


def _adopt_best_start(search: Search, starts: Sequence[tuple[str, Sequence[Assignment]]]) -> None:
    """Report every start that beats those before it on level 1."""
    first = search.problem.instance.objectives[0].name
    sign = 1 if search.model.term(first).is_maximized else -1
    best: float | None = None
    for name, assignments in starts:
        value = evaluate(search.problem, assignments, first)
        if best is None or sign * value > sign * best:
            best = value
            search.adopt(assignments, pattern_of(search.problem, assignments))
            search.report(first, value, None, name)


def _level(search: Search, index: int, objective: str) -> Level:
    """Optimize one objective under those above it."""
    term = search.model.term(objective)
    if isinstance(term.expression, int):
        value = evaluate(search.problem, search.assignments, objective) if search.assignments is not None else None
        if value is not None:
            return Level(objective, value, value, 0.0, Status.OPTIMAL)
    deadline = time.perf_counter() + search.seconds_left(index)
    bound: int | None = None
    proven = False
    while True:
        outcome = _step_one(search, objective, term, deadline)
        if search.is_exact and outcome.bound is not None:
            bound = outcome.bound
        if outcome.is_infeasible and search.assignments is None:
            status = Status.INFEASIBLE if search.is_exact else Status.NO_PLAN
            return Level(objective, None, None, None, status)
        if outcome.pattern is None or _is_no_better(search, objective, term, outcome):
            proven = outcome.is_optimal or outcome.is_infeasible
            break
        if _step_two(search, objective, outcome, deadline):
            proven = outcome.is_optimal
            break
        if search.is_stopped or time.perf_counter() >= deadline:
            break
    return _closed(search, objective, term, bound, proven and search.is_exact)


def _step_one(search: Search, objective: str, term: Term, deadline: float) -> Outcome:
    """Solve the relaxation from the best plan so far; plans that first fit can route are adopted on the way."""
    model = search.model
    if search.assignments is not None:
        model.hint(search.pattern, search.assignments)
    if term.is_maximized:
        model.cp.maximize(term.expression)
    else:
        model.cp.minimize(term.expression)

    def on_pattern(pattern: Pattern, most_lit: dict[tuple[int, int], int]) -> None:
        limit = most_lit if objective == "fragmentation" else None
        found = route_pattern(search.problem, pattern, limit)
        if found is not None and _improves(search, objective, term, found):
            search.adopt(found, pattern)
            search.report(objective, evaluate(search.problem, found, objective), None, "cpsat")

    def on_bound(steps: float) -> None:
        value = None
        if search.assignments is not None:
            value = evaluate(search.problem, search.assignments, objective)
        search.report(objective, value, term.to_float(steps), "bound")

    outcome = run(
        model,
        time_limit_s=max(deadline - time.perf_counter(), 0.01),
        options=search.options,
        workers=search.workers(),
        on_pattern=on_pattern,
        on_bound=on_bound,
    )
    search.is_stopped = search.is_stopped or outcome.is_stopped
    return outcome


def _improves(search: Search, objective: str, term: Term, found: Sequence[Assignment]) -> bool:
    if search.assignments is None:
        return True
    new, old = (evaluate(search.problem, a, objective) for a in (found, search.assignments))
    return new > old if term.is_maximized else new < old


def _is_no_better(search: Search, objective: str, term: Term, outcome: Outcome) -> bool:
    """Whether the best plan so far already reaches what step 1 found, at its resolution."""
    if search.assignments is None or outcome.objective is None:
        return False
    value = evaluate(search.problem, search.assignments, objective)
    claimed = term.to_float(outcome.objective)
    slack = term.scale.resolution * (1 + len(search.problem.options))
    return value >= claimed - slack if term.is_maximized else value <= claimed + slack


def _step_two(search: Search, objective: str, outcome: Outcome, deadline: float) -> bool:
    """Realise the pattern of step 1, or forbid it; True if it was realised."""
    assert outcome.pattern is not None
    limits = StepTwoLimits(
        time_limit_s=max(deadline - time.perf_counter(), 1.0),
        deterministic_limit=search.options.deterministic_limit,
        workers=search.workers(),
        seed=search.options.seed,
    )
    most_lit = outcome.most_lit if objective == "fragmentation" else None
    realized = realize(search.problem, outcome.pattern, limits, most_lit)
    if realized.assignments is not None:
        search.adopt(realized.assignments, outcome.pattern)
        value = evaluate(search.problem, realized.assignments, objective)
        search.report(objective, value, None, "cpsat")
        return True
    if realized.refuted:
        search.num_refuted += 1
        search.model.cut(outcome.pattern, realized.refuted, most_lit)
    else:
        search.num_undecided += 1
        search.is_exact = False
        search.model.cut(outcome.pattern, list(outcome.pattern), most_lit)
    return False


def _closed(search: Search, objective: str, term: Term, bound: int | None, proven: bool) -> Level:
    """The level as it ends: a proven one has its value as bound."""
    if search.assignments is None:
        return Level(objective, None, None if bound is None else term.to_float(bound), None, Status.NO_PLAN)
    value = evaluate(search.problem, search.assignments, objective)
    limit = value if proven else (None if bound is None else term.to_float(bound))
    if limit is not None:
        limit = max(limit, value) if term.is_maximized else min(limit, value)
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    search.report(objective, value, limit, "proven" if proven else "limit")
    return Level(objective, value, limit, relative_gap(value, limit), status)


def _keep(search: Search, objective: str, tolerance: float) -> None:
    """The next levels may not fall behind this one by more than its tolerance."""
    assert search.assignments is not None
    term = search.model.term(objective)
    if isinstance(term.expression, int):
        return
    value = evaluate(search.problem, search.assignments, objective)
    spend = tolerance * abs(value)
    rounding = 0 if objective == "moves" else len(search.problem.options) + 1
    if term.is_maximized:
        search.model.cp.add(term.expression >= term.scale.to_int(value - spend) - rounding)
    else:
        search.model.cp.add(term.expression <= term.scale.to_int(value + spend) + rounding)


def _finish(search: Search, status: Status) -> Result:
    problem, plan = search.problem, None
    left_out: tuple[LeftOut, ...] = ()
    if search.assignments is not None:
        plan = plan_of(problem, search.assignments)
        left_out = left_out_of(problem, plan)
    proto = search.model.cp.proto
    return Result(
        status=status,
        policy="cpsat",
        plan=plan,
        levels=tuple(search.levels),
        left_out=left_out,
        trace=tuple(search.trace),
        wall_time_s=search.elapsed_s,
        seed=search.options.seed,
        statistics={
            "variables": len(proto.variables),
            "constraints": len(proto.constraints),
            "refuted": search.num_refuted,
            "undecided": search.num_undecided,
            "resolution": search.model.term(problem.instance.objectives[0].name).scale.resolution,
        },
    )


def pattern_of(problem: Problem, assignments: Sequence[Assignment]) -> Pattern:
    """Choices that assignments amount to."""
    pattern: dict[int, Choice] = {}
    index = {options.job.name: j for j, options in enumerate(problem.options)}
    for assignment in assignments:
        j = index[assignment.job]
        options = problem.options[j]
        row = options.row_of(assignment.configuration)
        assert row is not None
        if options.can_stay and not assignment.is_moved:
            pattern[j] = Choice(row, True, ())
            continue
        counts: dict[int, int] = {}
        for name in assignment.devices:
            server = problem.cluster.fabric.parse_device(name)[0]
            counts[server] = counts.get(server, 0) + 1
        block = assignment.configuration.block
        pattern[j] = Choice(row, False, tuple(sorted((s, n // block) for s, n in counts.items())))
    return pattern


def plan_of(problem: Problem, assignments: Sequence[Assignment]) -> Plan:
    """Plan with the objective values it claims, assignments in the order of the instance."""
    order = {options.job.name: j for j, options in enumerate(problem.options)}
    objectives = {
        objective.name: evaluate(problem, assignments, objective.name)
        for objective in problem.instance.objectives
    }
    return Plan(
        instance=problem.instance.name,
        assignments=tuple(sorted(assignments, key=lambda a: order[a.job])),
        objectives=objectives,
    )


def left_out_of(problem: Problem, plan: Plan) -> tuple[LeftOut, ...]:
    """Jobs that the plan does not admit."""
    admitted = set(plan.admitted)
    return tuple(
        LeftOut(
            options.job.name,
            f"left out for what runs instead (planner explain INSTANCE {options.job.name})"
            if len(options)
            else "impossible alone: no listed configuration divides the workload and fits in memory",
        )
        for options in problem.options
        if options.job.name not in admitted
    )
