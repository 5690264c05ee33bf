"""The solver on some jobs of a page problem, whose solutions and bounds go to the search."""

import itertools
import time
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from planner.cpsat.step1.run import solve_in_thread
from planner.formulation.solver import new_solver
from planner.model.result import SolveOptions
from planner.pages.cpsat.model import PageModel
from planner.pages.cpsat.search import CHANGES_PER_UNIT, Search
from planner.pages.improve import improve

SLICE_S = 0.2
"""of improvement by simulation, while the solver runs in another thread"""
POLICY = "cpsat"


@dataclass(frozen=True)
class Part:
    """Some jobs alone: a relaxation of the whole problem, as others take no room."""

    search: Search
    numbers: tuple[int, ...]

    def model(self) -> PageModel:
        """No worse than the best placement known, which it starts from."""
        search = self.search
        problem = replace(search.problem, tasks=tuple(search.problem.tasks[j] for j in self.numbers))
        if search.best is None:
            return PageModel(problem, None)
        known = [search.best[j] for j in self.numbers]
        steps_s = [problem.step_s(j, pages) for j, pages in enumerate(known)]
        model = PageModel(problem, max(steps_s))
        model.require_at_most(sum(task.weight * step_s for task, step_s in zip(problem.tasks, steps_s, strict=True)))
        model.hint(known)
        return model

    def solve(self, limit_s: float) -> bool:
        """Whether it is proven that nothing fits."""
        search, model, has_known = self.search, self.model(), self.search.best is not None
        solver = new_solver()
        _configure(solver, search.options, limit_s)
        callback = _OnSolution(self, model)
        solver.best_bound_callback = lambda bound: search.raise_bound(model.seconds(bound), self.numbers)

        def improve_and_stop() -> bool:
            if search.is_deterministic:
                return search.options.should_stop()
            by_simulation(search, time.perf_counter() + SLICE_S)
            return search.is_done

        status = solve_in_thread(solver, model.cp, callback, improve_and_stop, lambda: None)
        if callback.error is not None:
            raise callback.error
        if status == cp_model.MODEL_INVALID:
            raise RuntimeError(model.cp.validate())
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            search.raise_bound(model.seconds(solver.best_objective_bound), self.numbers)
        return status == cp_model.INFEASIBLE and not has_known


class _OnSolution(cp_model.CpSolverSolutionCallback):
    """Hands each solution to the search, which simulates it."""

    def __init__(self, part: Part, model: PageModel) -> None:
        super().__init__()
        self._part, self._model = part, model
        self.error: BaseException | None = None

    def on_solution_callback(self) -> None:
        try:
            self._part.search.offer_jobs(self._part.numbers, self._model.read(self.value), POLICY)
        except BaseException as error:
            self.error = error
            self.stop_search()


def by_simulation(search: Search, until_s: float) -> None:
    """Random changes of the best placement; a limited number of them where that has to be the same on any machine."""
    if search.best is None or search.is_done:
        return
    limit, count = search.options.deterministic_limit, itertools.count()
    most = float("inf") if limit is None else CHANGES_PER_UNIT * limit
    improve(
        search.problem,
        search.best,
        min(until_s, search.ends_s),
        search.generator,
        lambda placed, _: search.offer(placed, "simulation"),
        lambda: search.is_done or next(count) >= most,
    )


def _configure(solver: cp_model.CpSolver, options: SolveOptions, limit_s: float) -> None:
    parameters = solver.parameters
    parameters.random_seed = options.seed
    parameters.max_presolve_iterations = 1
    parameters.symmetry_level = 0
    if options.deterministic_limit is not None:
        parameters.num_workers = 1
        parameters.max_deterministic_time = options.deterministic_limit
        return
    if options.workers is not None:
        parameters.num_workers = options.workers
    parameters.max_time_in_seconds = max(limit_s, 0.01)
