"""Circuits over rails of optical switches: which rails a job may take, and through which switches its light goes."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

from costmodel.fabrics import OcsRail
from costmodel.fabrics.ocs_rail import ports_of
from costmodel.fabrics.turns import Turn, turn_of
from costmodel.parallelism.mappings import DIMENSIONS
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.model.cluster import Cluster
from planner.model.plan import Circuit, HeldCircuits

MAX_STARTS = 8
"""servers from which a job on rails is spread"""
RailGroup = tuple[int, list[int], int]
"""(number of free rails, servers, mask of these rails) of servers with the same free rails"""


class FreeRails:
    """The rails of a cluster: rail q joins slot q of all servers."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, OcsRail)
        self.fabric: OcsRail = cluster.fabric
        self._masks: dict[int, int] = {}
        numbers = range(self.fabric.switches)
        self.switches: tuple[tuple[int, ...], ...] = tuple(
            tuple(i for i in numbers if (rail, i) not in cluster.failed_switches)
            for rail in range(self.fabric.devices_per_server)
        )
        """numbers of the working switches of each rail"""

    @cached_property
    def fewest(self) -> int:
        """Working switches of the worst rail: a job that needs no more ports may take any rails."""
        return min(map(len, self.switches))

    def with_switches(self, number: int) -> tuple[int, ...]:
        """Rails on which so many switches work."""
        return tuple(rail for rail, working in enumerate(self.switches) if len(working) >= number)

    def mask(self, number: int) -> int:
        """Mask of the rails on which so many switches work."""
        if number not in self._masks:
            self._masks[number] = sum(1 << rail for rail in self.with_switches(number))
        return self._masks[number]

    def common(self, demand: Demand, free: Sequence[Sequence[int]]) -> list[int]:
        """Rails that a job may take on servers with these free slots, those with the fewest switches first."""
        rails = set(self.with_switches(demand.num_ports)).intersection(*free)
        return sorted(rails, key=lambda rail: (len(self.switches[rail]), rail))

    def circuits(self, demand: Demand, devices: Sequence[Device]) -> tuple[HeldCircuits, ...]:
        """Circuits of a job on devices of rails with as many working switches as it needs ports.

        Circuits of one dimension are coloured so that no rank sends or receives a colour twice, and each dimension
        that is on with others has colours of its own; colour i is the i-th working switch of the rail.
        """
        return tuple(self._held(demand, devices))

    def _held(self, demand: Demand, devices: Sequence[Device]) -> Iterator[HeldCircuits]:
        turn: dict[str, Turn | None] = {axis: turn_of(demand.turns, axis) for axis in DIMENSIONS}
        first, next_of = dict[str, int](), defaultdict[Turn | None, int](int)
        for axis, plan in zip(DIMENSIONS, demand.plans, strict=False):
            first[axis] = next_of[turn[axis]]
            next_of[turn[axis]] += ports_of(plan)
        names = self.fabric.device_names(devices)
        for (dimension, circuits), offsets in zip(demand.configurations, demand.offsets, strict=True):
            held = []
            for (source, destination, width), offset in zip(circuits, offsets, strict=True):
                start = first[dimension] + offset
                taken = self.switches[devices[source][1]][start : start + width]
                held.append(Circuit(source=names[source], destination=names[destination], wavelengths=taken))
            yield HeldCircuits(dimension=dimension, phase=turn.get(dimension), circuits=tuple(held))


class ServersByRails:
    """Servers by the mask of their free devices with a port, those of each mask in order."""

    def __init__(self, lit: Sequence[int]) -> None:
        """`lit` are the masks, by server."""
        self.servers: dict[int, list[int]] = {}
        self._lit = [*lit]
        self.chosen: dict[tuple[int, int, int], list[int]] = {}
        """servers on rails that were found since something last changed, by usable rails, block and their number"""
        for server, slots in enumerate(lit):
            self.servers.setdefault(slots, []).append(server)

    def changed(self, server: int, slots: int) -> None:
        """The server has another mask."""
        self.chosen.clear()
        alike = self.servers[self._lit[server]]
        del alike[bisect_left(alike, server)]
        if not alike:
            del self.servers[self._lit[server]]
        self._lit[server] = slots
        insort(self.servers.setdefault(slots, []), server)

    def groups(self, usable: int, block: int) -> list[RailGroup]:
        """Servers with a block of free rails among those that are usable, by these rails."""
        found: dict[int, list[list[int]]] = {}
        for slots, servers in self.servers.items():
            if (slots & usable).bit_count() >= block:
                found.setdefault(slots & usable, []).append(servers)
        return [
            (mask.bit_count(), alike[0] if len(alike) == 1 else sorted(chain.from_iterable(alike)), mask)
            for mask, alike in found.items()
        ]


def on_rails(rails: FreeRails, demand: Demand, alike: ServersByRails) -> Iterator[list[tuple[int, int]]]:
    """Servers with one block each that have rails in common, started from the fullest ones that have room.

    From each start the servers that leave the most common rails join, of equal ones the fullest.
    """
    asked = rails.mask(demand.num_ports), demand.block, demand.num_blocks
    if asked not in alike.chosen:
        alike.chosen[asked] = _chosen(alike, *asked)
    if chosen := alike.chosen[asked]:
        yield [(server, 1) for server in chosen]


def _chosen(alike: ServersByRails, usable: int, block: int, num_blocks: int) -> list[int]:
    """The same servers, ascending; none where no start finds enough."""
    groups = alike.groups(usable, block)
    if sum([len(servers) for _, servers, _ in groups]) < num_blocks:
        return []
    starts = sorted([(number, first, mask) for number, servers, mask in groups for first in servers[:MAX_STARTS]])
    in_vain = set[int]()
    for _, first, mask in starts[:MAX_STARTS]:
        chosen = [] if mask in in_vain else _joined(groups, first, mask, block, num_blocks)
        if chosen:
            return sorted(chosen)
        in_vain.add(mask)
    return []


def _joined(groups: Sequence[RailGroup], first: int, common: int, block: int, num_blocks: int) -> list[int]:
    """A server and those that join it; empty where they leave too few common rails. All that leave the same rails as
    before join at once."""
    chosen, left = [first], [*groups]
    while True:
        missing = num_blocks - len(chosen)
        whole = [
            (number, server)
            for number, servers, mask in left
            if common & mask == common
            for server in servers[: missing + 1]
        ]
        chosen += [server for _, server in sorted(whole) if server != first][:missing]
        if len(chosen) == num_blocks:
            return chosen
        left = [each for each in left if common & each[2] != common and (common & each[2]).bit_count() >= block]
        if not left:
            return []
        common &= min(left, key=lambda each: (-(common & each[2]).bit_count(), each[0], each[1][0]))[2]
