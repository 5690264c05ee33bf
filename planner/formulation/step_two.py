"""Step 2: ranks, devices and circuits for the counts of step 1, or a proof that there are none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ortools.sat.python import cp_model

from planner.fabrics.free_state import FreeState
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import MostLit
from planner.formulation.solver import new_solver
from planner.model.plan import Assignment

FOUND = (cp_model.OPTIMAL, cp_model.FEASIBLE)
Found = TypeVar("Found")
State = TypeVar("State", bound=FreeState)


@dataclass(frozen=True)
class Answer(Generic[Found]):
    """Outcome of one search: what was found; or a proof that there is nothing; or neither in time."""

    found: Found | None = None
    is_impossible: bool = False


@dataclass(frozen=True)
class Realized:
    """Outcome of step 2: a plan; or jobs whose choices exclude each other, a no-good; or neither in time."""

    assignments: tuple[Assignment, ...] | None = None
    nogood: tuple[int, ...] = ()

    @property
    def is_undecided(self) -> bool:
        return self.assignments is None and not self.nogood


@dataclass(frozen=True)
class StepTwoLimits:
    """Limits of one exact search."""

    time_limit_s: float
    deterministic_limit: float | None
    workers: int
    seed: int

    def solver(self, share: float = 1.0) -> cp_model.CpSolver:
        """A solver that may use a share of the limits."""
        solver = new_solver()
        solver.parameters.random_seed = self.seed
        solver.parameters.num_workers = self.workers
        if self.deterministic_limit is not None:
            solver.parameters.max_deterministic_time = share * self.deterministic_limit
        else:
            solver.parameters.max_time_in_seconds = share * self.time_limit_s
        return solver


def answer(
    solver: cp_model.CpSolver, model: cp_model.CpModel, read: Callable[[cp_model.CpSolver], Found]
) -> Answer[Found]:
    """Solve a model, and read what was found; RuntimeError where the model is invalid."""
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(model.validate())
    if status in FOUND:
        return Answer(read(solver))
    return Answer(is_impossible=status == cp_model.INFEASIBLE)


class StepTwo:
    """Step 2 of servers joined by packets: first fit never fails on counts that fit."""

    def realize(
        self, problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None
    ) -> Realized:
        """Realise a pattern for which first fit found nothing; `most_lit`: fibers that may carry light."""
        raise AssertionError("counts that fit must be placeable on a fabric without circuits")

    def is_beyond_search(self, problem: Problem, pattern: Pattern) -> bool:
        """True if some jobs of a pattern are too many to be searched exactly."""
        return False


def taken_by_staying(free: FreeState, problem: Problem, pattern: Pattern) -> tuple[int, ...]:
    """Residents of a pattern that stay, whose parts are no longer free from now on."""
    staying = tuple(j for j, choice in pattern.items() if choice.stays)
    for j in staying:
        free.take_named(problem.options[j].staying())
    return staying


def with_others(
    problem: Problem,
    pattern: Pattern,
    free: State,
    packed: Mapping[int, Found],
    place: Callable[[State, int, Found], Assignment | None],
) -> Realized:
    """Residents that stay and what was packed; the other jobs then take whatever is left on their servers, single
    devices last. `free` has nothing taken."""
    assignments = [problem.options[j].staying() for j, choice in pattern.items() if choice.stays]
    for assignment in assignments:
        free.take_named(assignment)
    for j, parts in packed.items():
        found = place(free, j, parts)
        assert found is not None
        assignments.append(found)
    others = [j for j, choice in pattern.items() if not choice.stays and j not in packed]
    for j in sorted(others, key=lambda j: problem.options[j].shapes[pattern[j].row].num_ranks, reverse=True):
        found = free.assign(problem.options[j], pattern[j].row, pattern[j].blocks)
        assert found is not None, "what is packed must leave enough for the other jobs"
        assignments.append(found)
    return Realized(tuple(assignments))
