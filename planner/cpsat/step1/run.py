"""One run of the solver on step 1, in a thread of its own so that Ctrl-C and stop requests get through."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.cpsat.step1.model import Model
from planner.fabrics.pattern import Pattern
from planner.formulation.solver import new_solver
from planner.model.result import SolveOptions

POLL_S = 0.05


@dataclass(frozen=True)
class Outcome:
    """The result of one run: pattern and fiber limits of its best solution, objective and bound in steps."""

    pattern: Pattern | None
    most_lit: dict[tuple[int, int], int]
    objective: int | None
    bound: int | None
    is_optimal: bool
    is_infeasible: bool


class _OnSolution(cp_model.CpSolverSolutionCallback):
    """Hands each solution of step 1 to the search."""

    def __init__(self, model: Model, on_pattern: Callable[[Pattern, dict[tuple[int, int], int]], None]) -> None:
        super().__init__()
        self._model, self._on_pattern = model, on_pattern
        self.error: BaseException | None = None

    def on_solution_callback(self) -> None:
        try:
            self._on_pattern(self._model.pattern(self.value), self._model.most_lit(self.value))
        except BaseException as error:
            self.error = error
            self.stop_search()


def run(
    model: Model,
    *,
    time_limit_s: float,
    options: SolveOptions,
    workers: int,
    on_pattern: Callable[[Pattern, dict[tuple[int, int], int]], None],
    on_bound: Callable[[float], None],
    on_stop: Callable[[], None],
) -> Outcome:
    """Solve, and report solutions and bounds on the way. Ctrl-C stops the solver, not the program."""
    solver = new_solver()
    parameters = solver.parameters
    parameters.random_seed = options.seed
    parameters.num_workers = workers
    if options.deterministic_limit is not None:
        parameters.max_deterministic_time = options.deterministic_limit
    else:
        parameters.max_time_in_seconds = time_limit_s
    solver.best_bound_callback = on_bound
    callback = _OnSolution(model, on_pattern)
    parameters.cp_model_probing_level = 0
    parameters.symmetry_level = 0
    status = solve_in_thread(solver, model.cp, callback, options.should_stop, on_stop)
    if callback.error is not None:
        raise callback.error
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(model.cp.validate())
    has_solution = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return Outcome(
        pattern=model.pattern(solver.value) if has_solution else None,
        most_lit=model.most_lit(solver.value) if has_solution else {},
        objective=round(solver.objective_value) if has_solution else None,
        bound=round(solver.best_objective_bound) if has_solution else None,
        is_optimal=status == cp_model.OPTIMAL,
        is_infeasible=status == cp_model.INFEASIBLE,
    )


def solve_in_thread(
    solver: cp_model.CpSolver,
    model: cp_model.CpModel,
    callback: cp_model.CpSolverSolutionCallback,
    should_stop: Callable[[], bool],
    on_stop: Callable[[], None],
) -> cp_model.CpSolverStatus:
    """Status; a stop request ends the search with what it has."""
    statuses: list[cp_model.CpSolverStatus] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            statuses.append(solver.solve(model, callback))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    is_stopped = False
    while thread.is_alive():
        try:
            thread.join(POLL_S)
            is_stopped = is_stopped or should_stop()
        except KeyboardInterrupt:
            is_stopped = True
        if is_stopped:
            on_stop()
            solver.stop_search()
    if errors:
        raise errors[0]
    return statuses[0]
