"""Servers whose accelerators share appliances: modules of memory, ports and units of a second tier that are free in
each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from costmodel.fabrics import DividedPorts
from costmodel.parallelism.configuration import Configuration
from planner.fabrics.demand import Demand
from planner.fabrics.divided_ports.demand import amounts_of
from planner.fabrics.placement import Owned
from planner.model.cluster import Cluster

Amount = tuple[int, int]
"""place among `Amounts`, and the server"""


@dataclass
class FreeShares:
    """What is free, by place among `Amounts`, then by server; empty where servers share no memory."""

    free: tuple[list[int], ...]

    @classmethod
    def of(cls, cluster: Cluster) -> Self:
        """Nothing taken."""
        fabric = cluster.fabric
        if not isinstance(fabric, DividedPorts) or fabric.shared is None:
            return cls(())
        return cls(tuple([amount] * fabric.num_servers for amount in fabric.shared))

    def copy(self) -> Self:
        return type(self)(tuple([*each] for each in self.free))

    @property
    def are_any(self) -> bool:
        """True if servers share memory."""
        return bool(self.free)

    def room(self, shape: Demand, server: int, free: int) -> int:
        """Of so many free devices, those for which a server has what ranks of a shape take."""
        each = zip(self.free, amounts_of(shape), strict=False)
        return min([free, *(left[server] // amount for left, amount in each if amount)])

    def owned(self, configuration: Configuration, devices: Iterable[tuple[int, int]]) -> Owned[Amount] | None:
        """Amounts that the ranks of a job on these (server, slot) hold; None where servers share nothing."""
        if not self.are_any:
            return None
        ranks = Counter(server for server, _ in devices)
        each = [(what, amount) for what, amount in enumerate(configuration.held) if amount]
        return Owned((), (), tuple(((what, s), amount * ranks[s]) for s in ranks for what, amount in each))

    def take(self, counted: Iterable[tuple[Amount, int]], sign: int = 1) -> None:
        """Take amounts by server; give them back where `sign` is -1."""
        for (what, server), amount in counted:
            self.free[what][server] -= sign * amount
