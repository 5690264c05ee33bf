"""Servers whose accelerators share parts of memory: how many of each are free."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from costmodel.fabrics import ServerShares
from planner.fabrics.demand import Demand
from planner.fabrics.placement import Owned
from planner.fabrics.server_shares.demand import amounts_of
from planner.model.cluster import Cluster
from planner.model.instance import Instance

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
        if not isinstance(fabric, ServerShares) or fabric.shared is None:
            return cls(())
        return cls(tuple([amount] * fabric.num_servers for amount in fabric.shared))

    @classmethod
    def beside_residents(cls, instance: Instance) -> Self:
        """What residents leave."""
        found, fabric = cls.of(instance.cluster), instance.cluster.fabric
        for resident in instance.residents:
            found.take(found.counted(resident.configuration.held, map(fabric.parse_device, resident.devices)))
        return found

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

    def slots_beside(
        self, shape: Demand, held: Iterable[tuple[int, int]], free: Mapping[int, Sequence[int]]
    ) -> Mapping[int, Sequence[int]]:
        """Of free slots by server those for which there is enough beside ranks on `held`, whose own is free too."""
        if not self.are_any:
            return free
        ranks = Counter(server for server, _ in held)
        room = {s: self.room(shape, s, len(slots) + ranks[s]) - ranks[s] for s, slots in free.items()}
        return {s: slots[: max(0, room[s])] for s, slots in free.items()}

    def counted(self, held: Sequence[int | None], devices: Iterable[tuple[int, int]]) -> tuple[tuple[Amount, int], ...]:
        """What the ranks of a job on these (server, slot) take, each of them so much; nothing where servers share
        nothing."""
        if not self.free:
            return ()
        ranks = Counter(server for server, _ in devices)
        each = [(what, amount) for what, (amount, _) in enumerate(zip(held, self.free, strict=False)) if amount]
        return tuple(((what, s), amount * ranks[s]) for s in ranks for what, amount in each)

    def owned(self, held: Sequence[int | None], devices: Iterable[tuple[int, int]]) -> Owned[Amount] | None:
        """The same as parts of a job that holds no others; None where servers share nothing."""
        return Owned((), (), self.counted(held, devices)) if self.are_any else None

    def take(self, counted: Iterable[tuple[Amount, int]], sign: int = 1) -> None:
        """Take amounts by server; give them back where `sign` is -1."""
        for (what, server), amount in counted:
            self.free[what][server] -= sign * amount
