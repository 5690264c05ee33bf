"""Step 1 with appliances that the accelerators of a server share."""

from typing import ClassVar

from planner.fabrics.divided_ports.groups import GROUPS
from planner.fabrics.divided_ports.server_fillings import pack_servers
from planner.fabrics.problem import Problem
from planner.formulation.step_one import PackedServers, StepOne
from planner.formulation.step_two import StepTwoLimits


class DividedPortsStepOne(StepOne):
    """Counts by server, with modules, ports and second-tier units of appliances."""

    groups: ClassVar = GROUPS
    core_share: ClassVar = 0.1
    """prices of all appliances together bound what a plan may use less tightly"""

    def packed_servers(self, problem: Problem, least: float, limits: StepTwoLimits) -> PackedServers | None:
        return pack_servers(problem, least, limits)
