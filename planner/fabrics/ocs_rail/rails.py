"""Circuits over rails of optical switches: which rails a job may take, and through which switches its light goes."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from costmodel.fabrics import OcsRail
from costmodel.fabrics.ocs_rail import ports_of
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.routes import Device
from planner.model.cluster import Cluster
from planner.model.plan import Circuit, HeldCircuits


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

    def common(self, shape: Demand, free: Sequence[Sequence[int]]) -> list[int]:
        """Rails that a job may take on servers with these free slots, those with the fewest switches first."""
        rails = set(self.with_switches(shape.num_ports)).intersection(*free)
        return sorted(rails, key=lambda rail: (len(self.switches[rail]), rail))

    def circuits(self, shape: Demand, devices: Sequence[Device]) -> tuple[HeldCircuits, ...]:
        """Circuits of a job on devices of rails with as many working switches as it needs ports.

        Circuits of one dimension are coloured so that no rank sends or receives a colour twice, and each dimension
        has colours of its own; colour i is the i-th working switch of the rail.
        """
        return tuple(self._held(shape, devices))

    def _held(self, shape: Demand, devices: Sequence[Device]) -> Iterator[HeldCircuits]:
        first = {"pipeline": 0, "data": ports_of(shape.plans[1])}
        names = [self.fabric.device_name(*device) for device in devices]
        for (dimension, circuits), offsets in zip(shape.configurations, shape.offsets, strict=True):
            held = []
            for (source, destination, width), offset in zip(circuits, offsets, strict=True):
                start = first[dimension] + offset
                taken = self.switches[devices[source][1]][start : start + width]
                held.append(Circuit(source=names[source], destination=names[destination], wavelengths=taken))
            yield HeldCircuits(dimension=dimension, circuits=tuple(held))
