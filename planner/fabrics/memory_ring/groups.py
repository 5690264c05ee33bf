"""Constraint groups of shared memory nodes, each with its twin rule."""

from planner.fabrics.memory_ring.constraints import memory_nodes
from planner.fabrics.memory_ring.rule_nodes import check_nodes
from planner.formulation.group import Group

GROUPS = (
    Group(
        "memory_nodes",
        "Ranks hold no more DIMMs of a memory node, with their capacity and bandwidth, than it has.",
        memory_nodes,
        check_nodes,
    ),
)
