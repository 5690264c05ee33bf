"""Classes of jobs whose devices share memory nodes."""

from costmodel.fabrics import FabricBase, MemoryNodeRings
from planner.fabrics.job_class import JobClassRules
from planner.model.errors import InputError


class MemoryRingJobClassRules(JobClassRules):
    """As on packets; memory nodes that are shared are handed out by `planner solve` alone."""

    def require_replayed(self, fabric: FabricBase, name: str) -> None:
        assert isinstance(fabric, MemoryNodeRings)
        if fabric.shared_nodes:
            problem = (
                "jobs that share memory nodes cannot be replayed; leave it out, so that each accelerator has its half"
            )
            raise InputError(name, "fabric.shared_nodes", problem)

    def require_served(self, fabric: FabricBase) -> None:
        assert isinstance(fabric, MemoryNodeRings)
        if fabric.shared_nodes:
            problem = "a controller hands out no shared memory nodes; leave it out, or plan it with `planner solve`"
            raise InputError("cluster", "fabric.shared_nodes", problem)
