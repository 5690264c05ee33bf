"""Objectives of step 1: an integer expression with its scale, to maximize or minimize."""

from collections.abc import Callable

from ortools.sat.python import cp_model

from planner.cpsat.objectives.energy import energy
from planner.cpsat.objectives.fragmentation import fragmentation
from planner.cpsat.objectives.moves import moves
from planner.cpsat.objectives.value import value
from planner.fabrics.problem import Problem
from planner.formulation.terms import Term
from planner.formulation.variables import Variables

ObjectiveBuilder = Callable[[cp_model.CpModel, Variables, Problem], Term]

OBJECTIVES: dict[str, ObjectiveBuilder] = {
    "value": value,
    "moves": moves,
    "energy": energy,
    "fragmentation": fragmentation,
}

__all__ = ["OBJECTIVES", "ObjectiveBuilder", "Term"]
