"""Constraint groups of divided ports, each with its twin rule."""

from planner.fabrics.divided_ports.constraints import shares
from planner.fabrics.divided_ports.rule_shares import check_shares
from planner.formulation.group import Group

GROUPS = (
    Group(
        "shares",
        "Ranks on a server hold no more modules, ports and second-tier units of appliances than it has.",
        shares,
        check_shares,
    ),
)
