"""Servers whose accelerators share appliances: modules of memory and ports that are free in each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from costmodel.fabrics import DividedPorts
from costmodel.parallelism.configuration import Configuration
from planner.fabrics.demand import Demand
from planner.model.cluster import Cluster


@dataclass
class FreeShares:
    """What is free while jobs are placed one by one; lists over servers, empty where servers share no memory."""

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

    def take(self, configuration: Configuration, devices: Iterable[tuple[int, int]], sign: int = 1) -> None:
        """What the ranks of a job on these (server, slot) hold; given back where `sign` is -1."""
        if not self.modules:
            return
        for server, ranks in Counter(server for server, _ in devices).items():
            self.modules[server] -= sign * ranks * (configuration.memory_units or 0)
            self.ports[server] -= sign * ranks * (configuration.memory_io or 0)
