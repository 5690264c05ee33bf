"""A clock that only work moves, so that every command gives the same on any machine under any load.

Wall-clock limits decide what a search finds, so two runs of a command differ. Here all clocks of `time` that a limit
may be held against stand still while nobody reads them. A solve of CP-SAT that is given seconds gets as many
deterministic units instead, in one thread, and moves the clocks by the units that it took. A reading outside of a solve
moves them by 0.1 ms, so that loops end that work until it is late. Only the standard library and OR-Tools are changed,
never a module of the project: whatever the modules are called, this holds. It must run before they are imported.
"""

import threading
import time
from typing import Any

EPOCH_S = 1.7e9
"""where `time.time` begins"""
READING_S = 1e-4
NEVER_S = 1e6
"""a limit of a solver that no test reaches"""


class _Clock:
    now_s = 0.0
    reading_s = READING_S
    is_solving = False
    """other threads may then read the clock as often as they like"""


def _since_start() -> float:
    if not _Clock.is_solving:
        _Clock.now_s += _Clock.reading_s
    return _Clock.now_s


def reset(reading_s: float = READING_S) -> None:
    """Every entry begins at the same time."""
    _Clock.now_s, _Clock.reading_s = 0.0, reading_s


def freeze(*, is_service: bool = False) -> None:
    """From now on, for the whole process. In a service threads may still be waited for in vain."""
    time.perf_counter = time.process_time = time.thread_time = _since_start
    time.time = lambda: EPOCH_S + _Clock.now_s
    _freeze_solvers()
    if not is_service:
        _freeze_polls()


def _freeze_polls() -> None:
    """Who waits for a solve in a thread waits until its end, so that the clock is read equally often each time."""
    join = threading.Thread.join
    threading.Thread.join = lambda self, timeout=None: join(self)  # type: ignore[method-assign]


def _freeze_solvers() -> None:
    from ortools.linear_solver.python import model_builder
    from ortools.sat.python import cp_model

    solve = cp_model.CpSolver.solve

    def in_units(self: Any, model: Any, solution_callback: Any = None) -> Any:
        parameters = self.parameters
        parameters.num_workers = 1
        limit = min(parameters.max_time_in_seconds, parameters.max_deterministic_time)
        parameters.max_time_in_seconds, parameters.max_deterministic_time = NEVER_S, limit
        _Clock.is_solving = True
        try:
            status = solve(self, model, solution_callback)
            _Clock.now_s += self.deterministic_time
        finally:
            _Clock.is_solving = False
        return status

    cp_model.CpSolver.solve = in_units
    limit = model_builder.Solver.set_time_limit_in_seconds
    model_builder.Solver.set_time_limit_in_seconds = lambda self, _: limit(self, NEVER_S)
