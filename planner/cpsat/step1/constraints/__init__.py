"""Constraint groups of step 1; each reads the shared variables and works in any order."""

from collections.abc import Callable

from ortools.sat.python import cp_model

from planner.cpsat.step1.constraints.admission import admission
from planner.cpsat.step1.constraints.locality import locality, racks
from planner.cpsat.step1.constraints.slices import slices
from planner.cpsat.symmetry import server_order
from planner.fabrics.divided_ports.constraints import shares
from planner.fabrics.lightpath.constraints import fibers, light
from planner.fabrics.lightpath.laser_constraints import lasers
from planner.fabrics.ocs_rail.constraints import blocks_apart, same_rails
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.constraints import memory_pool, memory_rails, uplinks
from planner.fabrics.slices.constraints import cuts
from planner.formulation.variables import Variables

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
