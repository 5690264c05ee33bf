"""Plans that outlive the loss of any one part: a reserve is kept until every single failure can be repaired."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from planner.candidates.expand import expand
from planner.cpsat.repair import RepairLimits
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.model.clock import Clock
from planner.model.errors import InputError
from planner.model.health import Health
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import NOISE, Level, Result, SolveOptions, Status, is_worse, relative_gap
from planner.pipeline import solve
from planner.whatif.comparable import require_scored_steps
from planner.whatif.failures import Failure, damaged, parse_failure
from planner.whatif.repair.damaged_plan import DamagedPlan
from planner.whatif.repair.easy import as_listed, in_one_server, spare_server
from planner.whatif.repair.reserve import one_more
from planner.whatif.repair.search import keep_all
from planner.whatif.restate import restated
from planner.whatif.single_failures import single_failures

BASE_SHARE = 0.3
"""of the time for the plan without a reserve, and for each solve of what is left"""
MAX_WEAK = 4
"""weaknesses of a plan after which the reserve grows and the other failures are left for the next plan"""
REPAIR_S, REPAIR_SHARE = 5.0, 0.1
"""of search for the repair of one failure that no spare mends, and of the time left"""


@dataclass(frozen=True)
class Weakness:
    """A single failure after which some job cannot run as before; proven, or not repaired in time."""

    failure: Failure
    is_proven: bool


@dataclass(frozen=True)
class Survival:
    """The best plan found that survives any one failure, and what it costs.

    `result` has status OPTIMAL where no plan that survives is worth more, FEASIBLE where that is not proven,
    INFEASIBLE where not even a plan without a reserve exists, NO_PLAN where none was found that survives.
    """

    result: Result
    base: Result
    """without a reserve"""
    reserve: tuple[str, ...] = ()
    """tiles and fibers that the plan was made without"""
    weaknesses: tuple[Weakness, ...] = ()
    """of the last plan that was tried, where none survives"""
    num_tested: int = 0
    """failures that stand for all others, repaired one by one for the plan"""
    rounds: int = 0

    @property
    def cost(self) -> float | None:
        """Value of the plan without a reserve less that of the plan."""
        before, after = _value(self.base.plan), _value(self.result.plan)
        return None if before is None or after is None else before - after


def _value(plan: Plan | None) -> float | None:
    return None if plan is None else sum(assignment.value for assignment in plan.assignments)


def weaknesses(
    instance: Instance,
    plan: Plan,
    limits: RepairLimits | None = None,
    *,
    most: int | None = None,
    should_stop: Callable[[], bool] = bool,
) -> tuple[list[Weakness], int]:
    """Single failures that cannot be repaired with every job going on as it runs, and how many were tried.

    After `most` of them the others are not tried. A failure that is not tried because it is time to stop counts
    as a weakness that is not proven.
    """
    limits = replace(limits or RepairLimits(time_limit_s=REPAIR_S), is_any_enough=True)
    failures = single_failures(instance, plan)
    weak: list[Weakness] = []
    for number, failure in enumerate(failures):
        if most is not None and len(weak) >= most:
            return weak, number
        if should_stop():
            return [*weak, *(Weakness(other, False) for other in failures[number:])], number
        kept = keep_all(DamagedPlan(damaged(instance, [failure]), plan), limits)
        if kept.assignments is None:
            weak.append(Weakness(failure, kept.is_impossible))
    return weak, len(failures)


def survive(instance: Instance | Problem, *, policy: str = "cpsat", options: SolveOptions | None = None) -> Survival:
    """A plan whose every single failure can be repaired so that all its jobs go on as they run.

    Solved first as it is; then with each job in one server, which is easy to repair; then a tile of the server, or a
    fiber of the pair, with the most unrepairable failures is kept free, and so on until none is left or the time is up.
    At last parts of the reserve that are not needed are given back. All jobs must be allowed to move.
    """
    problem = instance if isinstance(instance, Problem) else expand(instance)
    require_scored_steps("survive", problem.instance)
    for resident in problem.instance.residents:
        if not resident.movable:
            field_name = f"residents[{resident.name}].movable"
            remedy = "no plan survives the loss of a tile whose resident may not move; let it move"
            raise InputError(problem.instance.name, field_name, remedy)
    search = _Search(problem, policy, options or SolveOptions())
    return search.run()


@dataclass
class _Search:
    problem: Problem
    policy: str
    options: SolveOptions
    started: float = field(default_factory=time.perf_counter)
    rounds: int = 0
    num_tested: int = 0
    best: Result | None = None
    best_reserve: tuple[str, ...] = ()
    near: Problem | None = None
    """the candidates among which the best plan was sought, where these are not all"""
    ceiling: float = float("inf")

    @property
    def seconds_left(self) -> float:
        return self.options.time_limit_s - (time.perf_counter() - self.started)

    @property
    def is_late(self) -> bool:
        return self.options.should_stop() or (self.options.deterministic_limit is None and self.seconds_left <= 0)

    def run(self) -> Survival:
        base = self._solve(())
        if base.plan is None:
            return Survival(base, base)
        weak = self._try(base, (), share=BASE_SHARE)
        if weak:
            self._find_easy()
        reserve: tuple[str, ...] = ()
        while weak and not self.is_late and not self._is_best:
            more = one_more(self.problem.instance, reserve, [each.failure for each in weak])
            if more is None:
                break
            reserve = (*reserve, more)
            found = self._solve(reserve)
            if found.plan is None:
                break
            weak = self._try(found, reserve)
        self._give_back()
        if self.best is None:
            return Survival(
                Result(Status.NO_PLAN, base.policy, seed=base.seed, wall_time_s=time.perf_counter() - self.started),
                base, weaknesses=tuple(weak), num_tested=self.num_tested, rounds=self.rounds,
            )  # fmt: skip
        return Survival(self._judged(base), base, self.best_reserve, num_tested=self.num_tested, rounds=self.rounds)

    @property
    def _is_best(self) -> bool:
        value = None if self.best is None else _value(self.best.plan)
        return value is not None and not is_worse(value, self.ceiling, is_maximized=True)

    def _improves(self, plan: Plan, reserve: Sequence[str]) -> bool:
        """True if a plan is worth more than the best one, or as much with less kept free."""
        before, value = None if self.best is None else _value(self.best.plan), _value(plan)
        assert value is not None
        if before is None or is_worse(before, value, is_maximized=True):
            return True
        return not is_worse(value, before, is_maximized=True) and len(reserve) < len(self.best_reserve)

    def _find_easy(self) -> None:
        """Plans that are repaired by moving one job to a free server, then such plans that use that server, too."""
        near = in_one_server(self.problem.instance)
        for reserve in dict.fromkeys((spare_server(near.instance), ())):
            found = None if self.is_late else self._solve(reserve, near)
            if found is not None and found.plan is not None:
                self._try(found, reserve, near, share=BASE_SHARE)

    def _solve(self, reserve: Sequence[str], near: Problem | None = None) -> Result:
        """The best plan that does without some parts; solves of a whole rack with one tile less bound all others.

        `near` has other candidates than the problem.
        """
        self.rounds += 1
        problem = near or self.problem
        instance = problem.instance
        without = damaged(instance, [parse_failure(instance.cluster, name) for name in reserve])
        seconds = max(BASE_SHARE * self.seconds_left, 0.0)
        options = replace(self.options, time_limit_s=seconds, on_incumbent=self.options.on_incumbent)
        found = solve(_restricted(problem, without), policy=self.policy, options=options)
        if near is None and instance.objectives[0].name == "value" and found.bound is not None:
            is_bound = not reserve or (len(reserve) == 1 and ">" not in reserve[0] and _is_uniform(instance))
            self.ceiling = min(self.ceiling, found.bound) if is_bound else self.ceiling
        return found

    def _try(
        self, found: Result, reserve: tuple[str, ...], near: Problem | None = None, share: float = 1.0
    ) -> list[Weakness]:
        """Weaknesses of a plan, looked for in a share of the time left; without any it is the best if it is better."""
        assert found.plan is not None
        plan = found.plan if near is None else as_listed(self.problem.instance, found.plan)
        if plan is None:
            return []
        seconds = max(min(REPAIR_S, REPAIR_SHARE * self.seconds_left), 0.1)
        options, until = self.options, Clock.of(share * self.seconds_left)
        is_timed = options.deterministic_limit is None
        limits = RepairLimits(
            seconds, options.deterministic_limit, options.workers, options.seed, until=until if is_timed else None
        )
        weak, tested = weaknesses(
            self.problem.instance, plan, limits, most=MAX_WEAK,
            should_stop=lambda: self.is_late or (is_timed and until.is_over),
        )  # fmt: skip
        if not weak and self._improves(plan, reserve):
            restored = restated(self.problem.instance, plan, plan.assignments)
            levels = _unproven(restored) if reserve or near else found.levels
            self.best, self.best_reserve = replace(found, plan=restored, levels=levels), reserve
            self.near = near
            self.num_tested = tested
        elif self.best is None:
            self.num_tested = tested
        return weak

    def _give_back(self) -> None:
        """Try without each part of the reserve, the first one last."""
        for name in reversed(self.best_reserve):
            if len(self.best_reserve) < 2 or self.is_late:
                return
            smaller = tuple(other for other in self.best_reserve if other != name)
            found = self._solve(smaller, self.near)
            if found.plan is not None:
                self._try(found, smaller, self.near)

    def _judged(self, base: Result) -> Result:
        """The best plan with what is proven about plans that survive, not about plans beside the reserve."""
        assert self.best is not None
        first = self.problem.instance.objectives[0].name
        if self.near is None and not self.best_reserve:
            return replace(self.best, wall_time_s=time.perf_counter() - self.started)
        value = self.best.objective
        bound = max(self.ceiling, value) if first == "value" and value is not None else None
        bound = None if bound == float("inf") else bound
        gap = relative_gap(value, bound)
        is_best = gap is not None and gap <= NOISE
        levels = self.best.levels
        top = Level(first, value, bound, gap, Status.OPTIMAL if is_best else Status.FEASIBLE)
        alone = is_best and len(levels) == 1
        return replace(
            self.best,
            status=Status.OPTIMAL if alone else Status.FEASIBLE,
            levels=(top, *levels[1:]),
            wall_time_s=time.perf_counter() - self.started,
        )


def _restricted(problem: Problem, without: Instance) -> Problem:
    """The same candidates on a damaged cluster: what is listed does not depend on health."""
    return expand(without) if without.residents else Problem(without, problem.options)


def _unproven(plan: Plan) -> tuple[Level, ...]:
    return tuple(Level(name, value, None, None, Status.FEASIBLE) for name, value in plan.objectives.items())


def _is_uniform(instance: Instance) -> bool:
    """True if it does not matter which tile is missing: one whole rack of servers that are all alike."""
    fabric = instance.cluster.fabric
    if instance.residents or instance.cluster.health != Health() or fabric.racks > 1:
        return False
    return plugin_of(fabric).spares.are_servers_alike(fabric)
