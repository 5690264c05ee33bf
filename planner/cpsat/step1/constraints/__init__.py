"""Constraint groups of step 1; each reads the shared variables and works in any order.

A group is joined with its twin rule of `planner.checks` in `groups.py`; groups of one fabric in the `groups.py` of its
plug-in.
"""

from planner.cpsat.step1.constraints.groups import ON_EVERY_FABRIC, groups_of

__all__ = ["ON_EVERY_FABRIC", "groups_of"]
