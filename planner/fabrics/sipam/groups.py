"""Constraint groups of racks with pooled memory, each with its twin rule."""

from planner.fabrics.joined_racks import groups as joined_racks
from planner.fabrics.sipam.constraints import memory_pool, pool_network, reserved_uplinks
from planner.fabrics.sipam.rule_memory_pool import check_memory_pool
from planner.fabrics.sipam.rule_network import check_pool_network, check_reserved_uplinks
from planner.formulation.group import Group

GROUPS = (
    Group(
        "memory_pool",
        "Each rank has its units and tray ports to itself, in its own server.",
        memory_pool,
        check_memory_pool,
    ),
    Group(
        "pool_network",
        "A job has the rails that its circuits take, and no memory on them.",
        pool_network,
        check_pool_network,
    ),
    Group(
        "reserved_uplinks",
        "Jobs that start reserve no more uplinks of a rail than work.",
        reserved_uplinks,
        check_reserved_uplinks,
        told_as="pool_network",
    ),
    *joined_racks.GROUPS,
)
