"""Constraint groups of circuits of light, each with its twin rule."""

from planner.fabrics.joined_racks import groups as joined_racks
from planner.fabrics.lightpath.constraints import path, sharing
from planner.fabrics.lightpath.laser_constraints import lasers
from planner.fabrics.lightpath.rule_lasers import check_lasers
from planner.fabrics.lightpath.rule_memory_pool import check_memory_pool
from planner.fabrics.lightpath.rule_path import check_path
from planner.fabrics.lightpath.rule_sharing import check_sharing
from planner.fabrics.server_shares.constraints import held_by_server
from planner.formulation.group import Group

GROUPS = (
    Group("sharing", "A wavelength of a fiber carries one circuit.", sharing, check_sharing),
    Group("path", "Circuits between two servers take fibers that lead from one to the other.", path, check_path),
    Group("lasers", "No circuit leaves or enters a tile on a wavelength that has failed there.", lasers, check_lasers),
    Group(
        "memory_pool",
        "Ranks on a server hold no more modules of its pool than it has.",
        held_by_server,
        check_memory_pool,
    ),
    *joined_racks.GROUPS,
)
