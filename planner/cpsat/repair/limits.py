"""How long a repair may search."""

from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from planner.formulation.solver import new_solver
from planner.model.clock import Clock


@dataclass(frozen=True)
class RepairLimits:
    """Limits of one search; `deterministic` replaces seconds so that machines agree."""

    time_limit_s: float = 10.0
    deterministic: float | None = None
    workers: int | None = None
    seed: int = 0
    is_any_enough: bool = False
    """the first repair is taken, however many ranks and circuits it moves"""
    until: Clock | None = None
    """of all searches together, where there are several"""

    def together(self) -> "RepairLimits":
        """The time limit from now on, for all searches together."""
        return replace(self, until=Clock.of(self.time_limit_s))

    @property
    def seconds_left(self) -> float:
        """Of one search; unlimited where no clock decides."""
        if self.deterministic is not None:
            return float("inf")
        return self.time_limit_s if self.until is None else min(self.time_limit_s, self.until.left_s)

    @property
    def is_late(self) -> bool:
        """True if no more search should begin."""
        return self.deterministic is None and self.until is not None and self.until.is_over

    def solver(self) -> cp_model.CpSolver:
        solver = new_solver()
        solver.parameters.random_seed = self.seed
        if self.workers is not None:
            solver.parameters.num_workers = self.workers
        if self.deterministic is not None:
            solver.parameters.num_workers = self.workers or 1
            solver.parameters.max_deterministic_time = self.deterministic
        else:
            solver.parameters.max_time_in_seconds = max(self.seconds_left, 0.01)
        solver.parameters.stop_after_first_solution = self.is_any_enough
        return solver
