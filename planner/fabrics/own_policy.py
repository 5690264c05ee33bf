"""Policies that know one kind of fabric, as its plug-in has them."""

from collections.abc import Callable

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement

OwnPolicy = Callable[[FreeState, JobClass], Placement | None]
"""Places a job, taken, on what is free; None where it finds no place. It answers alike where the state is the same"""
