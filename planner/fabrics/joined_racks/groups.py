"""The constraint group of racks that are joined, with its twin rule."""

from planner.fabrics.joined_racks.constraints import upper
from planner.fabrics.joined_racks.rule_upper import check_upper
from planner.formulation.group import Group

GROUPS = (
    Group("upper", "Jobs over several racks hold no more links between them than work.", upper, check_upper, "rack"),
)
