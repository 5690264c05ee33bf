"""Step 1 with appliances that the accelerators of a server share."""

from typing import ClassVar

from planner.fabrics.divided_ports.groups import GROUPS
from planner.formulation.step_one import StepOne


class DividedPortsStepOne(StepOne):
    """Counts by server, with modules, ports and second-tier units of appliances."""

    groups: ClassVar = GROUPS
    core_share: ClassVar = 0.1
    """prices of all appliances together bound what a plan may use less tightly"""
