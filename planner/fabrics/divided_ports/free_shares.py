"""Servers whose accelerators share appliances: modules of memory and ports that are free in each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from costmodel.fabrics import DividedPorts
from costmodel.parallelism.configuration import Configuration
from planner.fabrics.demand import Demand
from planner.fabrics.placement import Owned
from planner.model.cluster import Cluster

Amount = tuple[str, int]
"""modules or ports, and the server"""


@dataclass
class FreeShares:
    """Free modules and ports by server; empty where servers share no memory."""

    modules: list[int]
    ports: list[int]

    @classmethod
    def of(cls, cluster: Cluster) -> Self:
        """Nothing taken."""
        fabric = cluster.fabric
        if not isinstance(fabric, DividedPorts) or fabric.shared is None:
            return cls([], [])
        modules, ports = fabric.shared
        return cls([modules] * fabric.num_servers, [ports] * fabric.num_servers)

    def room(self, shape: Demand, server: int, free: int) -> int:
        """Of so many free devices, those for which a server has modules and ports if ranks of a shape take them."""
        if not self.modules:
            return free
        return min(free, self.modules[server] // shape.held_units, self.ports[server] // shape.held_io)

    def owned(self, configuration: Configuration, devices: Iterable[tuple[int, int]]) -> Owned[Amount] | None:
        """Amounts that the ranks of a job on these (server, slot) hold; None where servers share nothing."""
        if not self.modules:
            return None
        each = {"modules": configuration.memory_units or 0, "ports": configuration.memory_io or 0}
        ranks = Counter(server for server, _ in devices)
        return Owned((), (), tuple(((what, s), n * ranks[s]) for s in ranks for what, n in each.items()))

    def take(self, counted: Iterable[tuple[Amount, int]], sign: int = 1) -> None:
        """Take amounts by server; give them back where `sign` is -1."""
        for (what, server), amount in counted:
            (self.modules if what == "modules" else self.ports)[server] -= sign * amount
