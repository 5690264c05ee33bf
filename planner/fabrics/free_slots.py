"""Free accelerators by server, as slots; which of them a job takes first."""

from bisect import insort
from collections.abc import Iterable
from copy import copy

from planner.model.cluster import Cluster

Device = tuple[int, int]
"""(server, slot)"""


class FreeSlots:
    """Free devices by server."""

    def __init__(self, cluster: Cluster) -> None:
        servers = range(cluster.fabric.num_servers)
        self._without_port = cluster.dark_devices
        self._num_lost = {d: mask.bit_count() for d, mask in cluster.failed_lasers.items()}
        for device, mask in cluster.failed_receivers.items():
            self._num_lost[device] = self._num_lost.get(device, 0) + mask.bit_count()
        self.lit: list[list[int]] = [self._by_loss(s, cluster.lit_slots(s)) for s in servers]
        self.dark: list[list[int]] = [
            sorted(set(cluster.healthy_slots(s)) - set(lit)) if cluster.dark_devices else []
            for s, lit in enumerate(self.lit)
        ]

    def copy(self) -> "FreeSlots":
        """The same slots, to take from apart."""
        twin = copy(self)
        twin.lit, twin.dark = [[*slots] for slots in self.lit], [[*slots] for slots in self.dark]
        return twin

    def free(self, server: int, *, single: bool) -> list[int]:
        """Slots that a job may take, those that can use the most wavelengths first.

        A single-device job takes those without a port first, then those that can use the fewest wavelengths.
        """
        return [*self.dark[server], *self._by_loss(server, self.lit[server], -1)] if single else self.lit[server]

    def _by_loss(self, server: int, slots: Iterable[int], sign: int = 1) -> list[int]:
        if not self._num_lost:
            return list(slots)
        return sorted(slots, key=lambda slot: sign * self._num_lost.get((server, slot), 0))

    def take(self, devices: Iterable[Device]) -> None:
        for server, slot in devices:
            lit = self.lit[server]
            (lit if slot in lit else self.dark[server]).remove(slot)

    def release(self, devices: Iterable[Device]) -> None:
        for server, slot in devices:
            if (server, slot) in self._without_port:
                insort(self.dark[server], slot)
            elif self._num_lost:
                self.lit[server] = self._by_loss(server, sorted([*self.lit[server], slot]))
            else:
                insort(self.lit[server], slot)
