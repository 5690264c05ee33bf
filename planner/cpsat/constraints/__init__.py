"""Constraint groups of step 1; each reads the shared variables and works in any order."""

from collections.abc import Callable

from ortools.sat.python import cp_model

from planner.cpsat.constraints.admission import admission
from planner.cpsat.constraints.bandwidth import fibers, light
from planner.cpsat.constraints.locality import locality, racks
from planner.cpsat.constraints.slices import slices
from planner.cpsat.variables import Variables
from planner.problem import Problem

Constraint = Callable[[cp_model.CpModel, Variables, Problem], None]

CONSTRAINTS: dict[str, Constraint] = {
    "admission": admission,
    "slices": slices,
    "locality": locality,
    "racks": racks,
    "fibers": fibers,
    "light": light,
}
