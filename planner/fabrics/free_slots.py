"""Free accelerators by server, as slots; which of them a job takes first."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import overload

from planner.model.cluster import Cluster
from planner.model.masks import bits, numbers_of

Device = tuple[int, int]
"""(server, slot)"""
Slots = tuple[int, ...]
"""of one server"""


def masks_by_server(devices: Iterable[Device]) -> dict[int, int]:
    """Masks of the slots of devices, by server."""
    masks: dict[int, int] = {}
    last, slots = -1, 0
    for server, slot in devices:
        if server != last:
            masks[last] = slots
            last, slots = server, masks.get(server, 0)
        slots |= 1 << slot
    masks[last] = slots
    masks.pop(-1, None)
    return masks


class SlotsByServer(Sequence[Slots]):
    """Free slots of some devices of each server, in the order in which jobs take them; made again where they differ
    when they are looked at."""

    def __init__(self, free: Sequence[int], among: Sequence[int], order: Callable[[int, Slots], Slots]) -> None:
        """Masks of free slots by server, read whenever slots are looked at, and of those that count here; `order`
        of ascending slots of a server."""
        self._free, self._among, self._order = free, among, order
        self._seen, self._made = [0] * len(free), list[Slots]([()] * len(free))

    def __len__(self) -> int:
        return len(self._free)

    @overload
    def __getitem__(self, server: int) -> Slots: ...
    @overload
    def __getitem__(self, server: slice) -> Sequence[Slots]: ...
    def __getitem__(self, server: int | slice) -> Slots | Sequence[Slots]:
        if isinstance(server, slice):
            return [self[each] for each in range(len(self))[server]]
        mask = self._free[server] & self._among[server]
        if mask != self._seen[server]:
            self._seen[server], self._made[server] = mask, self._order(server, numbers_of(mask))
        return self._made[server]


class FreeSlots:
    """Free devices by server."""

    def __init__(self, cluster: Cluster) -> None:
        servers = range(cluster.fabric.num_servers)
        self._num_lost = {d: mask.bit_count() for d, mask in cluster.failed_lasers.items()}
        for device, mask in cluster.failed_receivers.items():
            self._num_lost[device] = self._num_lost.get(device, 0) + mask.bit_count()
        self.masks = [bits(cluster.healthy_slots(s)) for s in servers]
        """of free devices by server"""
        with_port = [bits(cluster.lit_slots(s)) for s in servers]
        self._among = with_port, [free & ~lit for free, lit in zip(self.masks, with_port, strict=True)]
        """devices with a port, and those without one"""
        self._look()

    def _look(self) -> None:
        with_port, without = self._among
        self.lit = SlotsByServer(self.masks, with_port, self._by_loss)
        self.dark = SlotsByServer(self.masks, without, lambda server, slots: slots)

    def copy(self) -> "FreeSlots":
        """The same slots, to take from apart."""
        twin = copy(self)
        twin.masks = [*self.masks]
        twin._look()
        return twin

    def free(self, server: int, *, single: bool) -> Slots:
        """Slots that a job may take, those that can use the most wavelengths first.

        A single-device job takes those without a port first, then those that can use the fewest wavelengths.
        """
        return (*self.dark[server], *self._by_loss(server, self.lit[server], -1)) if single else self.lit[server]

    def _by_loss(self, server: int, slots: Slots, sign: int = 1) -> Slots:
        if not self._num_lost:
            return slots
        return tuple(sorted(slots, key=lambda slot: sign * self._num_lost.get((server, slot), 0)))

    def take(self, devices: Iterable[Device]) -> None:
        """Devices that are free are so no longer. ValueError where one is not free."""
        for server, mask in masks_by_server(devices).items():
            if mask & ~self.masks[server]:
                raise ValueError(f"devices of server {server} are not free")
            self.masks[server] ^= mask
