"""Constraint groups of step 1; each reads the shared variables and works in any order."""

from collections.abc import Callable

from ortools.sat.python import cp_model

from planner.cpsat.constraints.admission import admission
from planner.cpsat.constraints.bandwidth import fibers, light
from planner.cpsat.constraints.cuts import cuts
from planner.cpsat.constraints.lasers import lasers
from planner.cpsat.constraints.locality import locality, racks
from planner.cpsat.constraints.memory_pool import memory_pool, memory_rails, uplinks
from planner.cpsat.constraints.rails import blocks_apart, same_rails
from planner.cpsat.constraints.shares import shares
from planner.cpsat.constraints.slices import slices
from planner.cpsat.server_order import server_order
from planner.cpsat.variables import Variables
from planner.problem import Problem

Constraint = Callable[[cp_model.CpModel, Variables, Problem], None]

CONSTRAINTS: dict[str, Constraint] = {
    "admission": admission,
    "slices": slices,
    "locality": locality,
    "racks": racks,
    "blocks_apart": blocks_apart,
    "same_rails": same_rails,
    "cuts": cuts,
    "server_order": server_order,
    "fibers": fibers,
    "light": light,
    "lasers": lasers,
    "memory_pool": memory_pool,
    "memory_rails": memory_rails,
    "uplinks": uplinks,
    "shares": shares,
}
