"""Slices as published systems cut them from a cluster, and the share of jobs that each cut admits."""

from planner.slices.allocator import Allocator, Slice
from planner.slices.any_chip import AnyChip
from planner.slices.digit_subcubes import DigitSubcubes
from planner.slices.optical_cubes import OpticalCubes
from planner.slices.rings_over_servers import RingsOverServers
from planner.slices.torus_boxes import TorusBoxes
from planner.slices.whole_servers import WholeServers

__all__ = [
    "Allocator", "AnyChip", "DigitSubcubes", "OpticalCubes", "RingsOverServers", "Slice", "TorusBoxes", "WholeServers",
]  # fmt: skip
