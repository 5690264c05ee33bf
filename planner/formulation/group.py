"""A group of constraints of step 1, joined with the rule that says the same of a finished plan."""

from collections.abc import Callable
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.variables import Variables
from planner.model.violation import Check

Constraint = Callable[[cp_model.CpModel, Variables, Problem], None]
"""States constraints over the shared variables; groups work in any order"""


@dataclass(frozen=True)
class Group:
    """One line of the table of groups: the constraint, its twin rule, and what both say.

    Constraint and rule share no code. The rule may allow less than the constraint: what step 1 cannot count, step 2
    realises or refutes.
    """

    name: str
    says: str
    """in a sentence for people, which `planner/RULES.md` repeats"""
    constraint: Constraint
    rule: Check
    told_as: str = ""
    """the rule that violations name, where it has several parts of which this is one; else the name of the group"""
    is_of_step_one_alone: bool = False
    """whether free states do not know it: then no plan of a heuristic starts the search, and step 1 decides over the
    whole cluster, without divisions and neighbourhoods"""

    @property
    def told(self) -> str:
        """Name of the rule in what `planner check` prints."""
        return self.told_as or self.name
