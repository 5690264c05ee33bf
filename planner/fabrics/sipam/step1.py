"""Step 1 in racks with pooled memory: what memory and its circuits add to counts by server."""

from typing import ClassVar

from planner.fabrics.problem import Problem
from planner.fabrics.sipam.groups import GROUPS
from planner.formulation.nogood import Nogood
from planner.formulation.step_one import StepOne
from planner.model.health import Health


class PoolStepOne(StepOne):
    """Counts by server, with units, ports, rails and uplinks."""

    groups: ClassVar = GROUPS
    drops_by_counts: ClassVar = True
    core_share: ClassVar = 0.1
    """prices of what is pooled bound what a plan may use less tightly"""

    def may_rename(self, problem: Problem, nogood: Nogood) -> bool:
        cluster = problem.cluster
        return cluster.fabric.racks == 1 and cluster.health == Health() and not nogood.staying
