"""An objective as the search knows it: a term that CP-SAT optimizes, and the worth of a known plan."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ortools.sat.python import cp_model

from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.terms import Term
from planner.formulation.variables import Variables
from planner.model.plan import Assignment


class SearchObjective(ABC):
    """One line of the table of objectives; the check recomputes its value by code of its own."""

    is_maximized: ClassVar[bool] = False
    depends_on_counts: ClassVar[bool] = False
    """whether it depends on which servers jobs touch, not only on how they run"""

    @abstractmethod
    def term(self, model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
        """Integer expression of step 1, with its scale."""

    @abstractmethod
    def value(self, problem: Problem, assignments: Sequence[Assignment]) -> float:
        """The worth of assignments, in the objective's own unit, exactly as the term counts them."""

    def amounts(self, problem: Problem, assignments: Sequence[Assignment]) -> list[float] | None:
        """The amount that each job adds; None where the objective is no sum over jobs."""
        return None

    def can_state(self, problem: Problem) -> bool:
        """True if the term is small enough to be built."""
        return True


class SummedObjective(SearchObjective):
    """A sum over jobs that run."""

    @abstractmethod
    def amount(self, options: JobOptions, assignment: Assignment) -> float:
        """The amount that one job adds."""

    def amounts(self, problem: Problem, assignments: Sequence[Assignment]) -> list[float]:
        options = problem.options_by_name
        return [self.amount(options[assignment.job], assignment) for assignment in assignments]

    def value(self, problem: Problem, assignments: Sequence[Assignment]) -> float:
        return sum(self.amounts(problem, assignments))
