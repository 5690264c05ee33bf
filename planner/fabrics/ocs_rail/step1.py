"""Step 1 on rails: what circuits through the switches of rails add to counts by server."""

from typing import ClassVar

from planner.fabrics.demand import Demand
from planner.fabrics.ocs_rail.constraints import rails
from planner.fabrics.problem import Problem
from planner.formulation.nogood import Nogood
from planner.formulation.step_one import StepOne


class RailStepOne(StepOne):
    """Counts by server, and the rails of jobs with circuits where not too many."""

    groups: ClassVar = {"rails": rails}

    def asks_as_much(self, demand: Demand, other: Demand) -> bool:
        """The same blocks, and at least the ports of each rank."""
        is_alike = (demand.num_ranks, demand.block) == (other.num_ranks, other.block)
        return is_alike and other.num_ports >= demand.num_ports

    def may_rename(self, problem: Problem, nogood: Nogood) -> bool:
        health = problem.cluster.health
        return not (health.failed_tiles or health.failed_ports or nogood.staying)
