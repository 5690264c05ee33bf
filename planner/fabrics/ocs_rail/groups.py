"""Constraint groups of rails, each with its twin rule."""

from planner.fabrics.ocs_rail.constraints import blocks_apart, same_rails
from planner.fabrics.ocs_rail.rule_rails import check_blocks_apart, check_same_rails
from planner.formulation.group import Group

GROUPS = (
    Group(
        "blocks_apart",
        "A job with circuits has one block on each of its servers.",
        blocks_apart,
        check_blocks_apart,
        told_as="rails",
    ),
    Group(
        "same_rails",
        "A job with circuits takes the same rails on all its servers, with a working switch for each port it needs.",
        same_rails,
        check_same_rails,
        told_as="rails",
    ),
)
