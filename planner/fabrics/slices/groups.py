"""Constraint groups of slices, each with its twin rule."""

from planner.fabrics.joined_racks import groups as joined_racks
from planner.fabrics.slices.constraints import cut
from planner.fabrics.slices.rule_cut import check_cut
from planner.formulation.group import Group

GROUPS = (
    Group("cut", "Slices of jobs are whole, healthy and apart.", cut, check_cut),
    *joined_racks.GROUPS,
)
