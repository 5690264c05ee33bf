"""A few servers whose accelerators divide their ports as a problem of their own."""

from collections.abc import Mapping, Sequence

from costmodel.fabrics import DividedPorts
from planner.fabrics.problem import Problem
from planner.fabrics.windows import RackWindows, Windows
from planner.model.cluster import Cluster
from planner.model.health import Health
from planner.model.plan import Assignment


class DividedPortsWindows(RackWindows):
    """What the accelerators of a server share has no parts that could be taken one by one: then whole racks alone."""

    def are_possible(self, cluster: Cluster) -> bool:
        """Where nothing is shared."""
        assert isinstance(cluster.fabric, DividedPorts)
        return cluster.fabric.shared is None

    def held(
        self, problem: Problem, fixed: Sequence[Assignment], servers: Sequence[int], names: Mapping[int, str]
    ) -> Health:
        """As of servers joined by packets where nothing is shared."""
        if self.are_possible(problem.cluster):
            return Windows.held(self, problem, fixed, servers, names)
        return super().held(problem, fixed, servers, names)
