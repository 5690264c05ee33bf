"""Objectives of step 1: an integer expression with its scale, to maximize or minimize."""

from collections.abc import Callable

from ortools.sat.python import cp_model

from planner.cpsat.objectives.base import Term
from planner.cpsat.objectives.energy import energy
from planner.cpsat.objectives.fragmentation import fragmentation
from planner.cpsat.objectives.moves import moves
from planner.cpsat.objectives.value import value
from planner.cpsat.variables import Variables
from planner.problem import Problem

ObjectiveBuilder = Callable[[cp_model.CpModel, Variables, Problem], Term]

OBJECTIVES: dict[str, ObjectiveBuilder] = {
    "value": value,
    "moves": moves,
    "energy": energy,
    "fragmentation": fragmentation,
}

__all__ = ["OBJECTIVES", "ObjectiveBuilder", "Term"]
