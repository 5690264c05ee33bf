"""Step 1 with memory nodes that devices share."""

from typing import ClassVar

from planner.fabrics.memory_ring.groups import GROUPS
from planner.formulation.step_one import StepOne


class MemoryRingStepOne(StepOne):
    """Counts by server, with a row for each memory node."""

    groups: ClassVar = GROUPS
    core_share: ClassVar = 0.1
    """prices of all nodes together bound what a plan may use less tightly"""
