"""A few servers whose accelerators divide their ports as a problem of their own."""

from costmodel.fabrics import DividedPorts
from planner.fabrics.windows import Windows
from planner.model.cluster import Cluster


class DividedPortsWindows(Windows):
    """What the accelerators of a server share has no parts that could be taken one by one."""

    def are_possible(self, cluster: Cluster) -> bool:
        """Where nothing is shared."""
        assert isinstance(cluster.fabric, DividedPorts)
        return cluster.fabric.shared is None
