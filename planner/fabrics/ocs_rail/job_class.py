"""Classes of jobs on rails of optical circuit switches."""

from planner.fabrics.demand import Demand
from planner.fabrics.job_class import JobClassRules


class OcsRailJobClassRules(JobClassRules):
    """Jobs with circuits take one block of each server, all on the same rails."""

    def scarce(self, shape: Demand) -> int:
        return shape.num_ports

    def needs_rails(self, shape: Demand) -> bool:
        return shape.num_ports > 0
