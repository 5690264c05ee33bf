"""Classes of jobs where accelerators divide optical ports between memory and network."""

from costmodel.fabrics import DividedPorts, FabricBase
from planner.fabrics.job_class import JobClassRules
from planner.model.errors import InputError


class DividedPortsJobClassRules(JobClassRules):
    """As on packets; appliances that servers share are handed out by `planner solve` alone."""

    def require_replayed(self, fabric: FabricBase, name: str) -> None:
        assert isinstance(fabric, DividedPorts)
        if fabric.shared is not None:
            problem = "jobs that share appliances cannot be replayed; take optical modules as memory, or another fabric"
            raise InputError(name, "fabric.memory", problem)

    def require_served(self, fabric: FabricBase) -> None:
        assert isinstance(fabric, DividedPorts)
        if fabric.shared is not None:
            problem = (
                "a controller hands out no shared appliances; take optical modules, or plan it with `planner solve`"
            )
            raise InputError("cluster", "fabric.memory", problem)
