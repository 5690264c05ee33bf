"""Placement of pages with CP-SAT: the best simple placement, made better by simulation and by the solver side by side.

What the solver finds is simulated, and its time is the simulation's. Its bound holds in any case: the model is the
simulated machine or leaves out some of its waits. Above MOST_TENSORS the bound is that of a small linear relaxation.
"""

import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from costmodel.streams.placement import kept
from costmodel.streams.simulate import simulate
from planner.cpsat.pages.model import PageModel
from planner.cpsat.pages.relaxation import relax
from planner.cpsat.run import solve_in_thread
from planner.pages.improve import improve, repaired
from planner.pages.problem import PageProblem, Pages
from planner.pages.result import OBJECTIVE, PROVEN, PageResult
from planner.result import Incumbent, SolveOptions, Status, relative_gap

MOST_TENSORS = 400
"""of all jobs together: what the exact model is built for"""
PLAIN = 0.15
"""share of the time limit after which the solver joins the improvement by simulation"""
SLICE_S = 0.2
"""of improvement by simulation, while the solver runs in another thread"""
POLICY = "cpsat"
Start = tuple[str, Callable[[PageProblem], list[Pages] | None]]


@dataclass
class _Search:
    """The best placement and bound so far."""

    problem: PageProblem
    options: SolveOptions
    started: float = field(default_factory=time.perf_counter)
    best: list[Pages] | None = None
    value_s: float = float("inf")
    bound_s: float = 0.0
    trace: list[Incumbent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.generator = random.Random(self.options.seed)
        self._lock = threading.RLock()

    def offer(self, placed: Sequence[Pages], value_s: float, source: str) -> None:
        """A placement that fits, with its simulated time."""
        with self._lock:
            if value_s < self.value_s:
                self.best, self.value_s = list(placed), value_s
                self._tell(source)

    def raise_bound(self, bound_s: float) -> None:
        """No higher than what is known to be possible: the rest is rounding."""
        with self._lock:
            if bound_s > self.bound_s:
                self.bound_s = min(bound_s, self.value_s)
                self._tell("bound")

    @property
    def ends_s(self) -> float:
        return self.started + self.options.time_limit_s

    @property
    def left_s(self) -> float:
        return self.ends_s - time.perf_counter()

    @property
    def is_proven(self) -> bool:
        gap = relative_gap(self.value_s, self.bound_s)
        return self.best is not None and gap is not None and gap <= PROVEN

    @property
    def is_done(self) -> bool:
        return self.is_proven or self.options.should_stop()

    def _tell(self, source: str) -> None:
        value_s = self.value_s if self.best is not None else None
        event = Incumbent(time.perf_counter() - self.started, OBJECTIVE, value_s, self.bound_s, source)
        self.trace.append(event)
        if self.options.on_incumbent is not None:
            self.options.on_incumbent(event)


def place_pages(problem: PageProblem, options: SolveOptions, starts: Iterable[Start]) -> PageResult:
    """The best placement found within the time limit; never slower than any of the starts."""
    search = _Search(problem, options, bound_s=everything_kept_s(problem))
    for name, make in starts:
        placed = make(problem)
        if placed is not None:
            search.offer(placed, problem.value_s(placed), name)
    is_large = sum(len(task.count) for task in problem.tasks) > MOST_TENSORS
    _relax(search)
    _improve(search, search.ends_s if is_large else search.started + PLAIN * options.time_limit_s)
    is_impossible = not is_large and not search.is_done and _solve(search)
    return _result(search, is_impossible)


def everything_kept_s(problem: PageProblem) -> float:
    """A bound: steps without a copy and with nothing made again; ends only grow with durations."""
    return sum(
        task.weight * simulate(task.program, task.links, kept(task.program.size_bytes, task.links), problem.rules).end_s
        for task in problem.tasks
    )


def _relax(search: _Search) -> None:
    """The linear relaxation: its bound, and its shares as a placement where they can be made to fit."""
    problem, value_s = search.problem, search.value_s
    if search.best is None:
        return
    longest_s = [value_s / task.weight for task in problem.tasks]
    found = relax(problem, longest_s, search.left_s / 2)
    if found is not None:
        search.raise_bound(found.bound_s)
        placed = repaired(problem, found.pages)
        if placed is not None:
            search.offer(placed, problem.value_s(placed), "relaxation")


def _improve(search: _Search, until_s: float) -> None:
    if search.best is not None and not search.is_done:
        improve(
            search.problem,
            search.best,
            min(until_s, search.ends_s),
            search.generator,
            lambda placed, value_s: search.offer(placed, value_s, "simulation"),
            lambda: search.is_done,
        )


class _OnSolution(cp_model.CpSolverSolutionCallback):
    """Simulates each solution."""

    def __init__(self, search: _Search, model: PageModel) -> None:
        super().__init__()
        self._search, self._model = search, model
        self.error: BaseException | None = None

    def on_solution_callback(self) -> None:
        try:
            placed = self._model.read(self.value)
            self._search.offer(placed, self._search.problem.value_s(placed), POLICY)
        except BaseException as error:
            self.error = error
            self.stop_search()


def _solve(search: _Search) -> bool:
    """Run the solver on the whole problem; whether it proved that nothing fits."""
    problem, options = search.problem, search.options
    known = search.best
    longest_s = None if known is None else max(problem.step_s(j, pages) for j, pages in enumerate(known))
    model = PageModel(problem, longest_s)
    if known is not None:
        model.require_at_most(search.value_s)
        model.hint(known)
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.random_seed = options.seed
    parameters.catch_sigint_signal = False
    parameters.max_presolve_iterations = 1
    parameters.symmetry_level = 0
    if options.workers is not None:
        parameters.num_workers = options.workers
    parameters.max_time_in_seconds = max(search.left_s, 0.01)
    solver.best_bound_callback = lambda bound: search.raise_bound(model.seconds(bound))
    callback = _OnSolution(search, model)

    def improve_and_stop() -> bool:
        _improve(search, time.perf_counter() + SLICE_S)
        return search.is_done

    status = solve_in_thread(solver, model.cp, callback, improve_and_stop, lambda: None)
    if callback.error is not None:
        raise callback.error
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(model.cp.validate())
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
        search.raise_bound(model.seconds(solver.best_objective_bound))
    return status == cp_model.INFEASIBLE and known is None


def _result(search: _Search, is_impossible: bool) -> PageResult:
    if search.best is None:
        status = Status.INFEASIBLE if is_impossible else Status.NO_PLAN
    else:
        status = Status.OPTIMAL if search.is_proven else Status.FEASIBLE
    has_plan = search.best is not None
    return PageResult(
        status=status,
        policy=POLICY,
        problem=search.problem,
        placed=tuple(search.best) if search.best is not None else None,
        value_s=search.value_s if has_plan else None,
        bound_s=search.bound_s if has_plan else None,
        wall_time_s=time.perf_counter() - search.started,
        trace=tuple(search.trace),
    )
