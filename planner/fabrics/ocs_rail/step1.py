"""Step 1 on rails: what circuits through the switches of rails add to counts by server."""

from typing import ClassVar

from planner.fabrics.ocs_rail.groups import GROUPS
from planner.fabrics.problem import Problem
from planner.formulation.nogood import Nogood
from planner.formulation.step_one import StepOne


class RailStepOne(StepOne):
    """Counts by server, and the rails of jobs with circuits where not too many."""

    groups: ClassVar = GROUPS

    def may_rename(self, problem: Problem, nogood: Nogood) -> bool:
        health = problem.cluster.health
        return not (health.failed_tiles or health.failed_ports or nogood.staying)
