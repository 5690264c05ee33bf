"""Objectives of step 1: an integer expression with its scale, to maximize or minimize."""

from collections.abc import Callable

from ortools.sat.python import cp_model

from planner.cpsat.step1.objectives.energy import energy
from planner.cpsat.step1.objectives.fragmentation import fragmentation
from planner.cpsat.step1.objectives.moves import moves
from planner.cpsat.step1.objectives.value import value
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
