"""Free links of the layer above racks, and the circuits between racks that are named of them."""

from collections.abc import Mapping, Sequence
from copy import copy

from costmodel.fabrics import UpperLayer, UpperPart, UpperSwitches
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.placement import HeldLinks
from planner.fabrics.rack_claims import IN, OUT, links_held, owned_between_racks, rack_name
from planner.model.cluster import Cluster
from planner.model.plan import RackCircuit


def circuit_between(source: str, destination: str, over: str, wavelengths: Sequence[int] = ()) -> RackCircuit:
    ends = {"from": source, "to": destination}
    return RackCircuit.model_validate(ends | {"over": over, "wavelengths": tuple(wavelengths)})


def held_links(circuits: Sequence[RackCircuit], counted: Mapping[UpperPart, int] | None = None) -> HeldLinks:
    """Links of these circuits, and so many of each part."""
    masks = tuple(owned_between_racks(circuits).items())
    return HeldLinks(tuple((counted or {}).items()), masks, tuple(circuits))


def racks_joined(circuit: RackCircuit) -> tuple[str, str]:
    """Names of the racks of both ends."""
    return circuit.source.partition(".")[0], circuit.destination.partition(".")[0]


def _number(circuits: Sequence[RackCircuit]) -> int:
    """Links that these circuits are."""
    return sum(len(circuit.wavelengths) or 1 for circuit in circuits)


class RackLinks:
    """Links of one cluster that no job holds."""

    def __init__(self, cluster: Cluster, upper: UpperLayer) -> None:
        """Nothing is taken."""
        self._fabric, self._upper = cluster.fabric, upper
        self._by_name = cluster.upper_links
        self.free = {part: sum(links.values()) for part, links in self._by_name.items()}
        """links of each part"""
        self._working = {name for links in self._by_name.values() for name in links}
        self._ports_of = upper.ports_by_switch(cluster.fabric.racks) if isinstance(upper, UpperSwitches) else {}
        """numbers of the ports that each rack has at a switch, by its name"""
        self._owned: dict[str, int] = {}
        """masks of ports and fibers in use"""

    def copy(self) -> "RackLinks":
        twin = copy(self)
        twin.free, twin._owned = dict(self.free), dict(self._owned)
        return twin

    def fits(self, demand: Demand, racks: Sequence[int]) -> bool:
        """True if a job finds its links between these racks, by number."""
        return not demand.links or all(self.free[part] >= demand.links for part in self._upper.parts(racks))

    def among(self, demand: Demand, racks: Sequence[int]) -> list[int]:
        """Racks that have the links of a job, where links are counted by rack; all of them where they are not."""
        least = demand.links
        return [rack for rack in racks if self.free.get((rack,), least) >= least]

    def held(self, demand: Demand, racks: Sequence[int], kept: Sequence[RackCircuit] = ()) -> HeldLinks | None:
        """All that a job holds between these racks, over the first free links, with circuits that are `kept`, and free;
        None where links are too few, or the job has none where these are. Nothing is taken."""
        if not self.fits(demand, racks):
            return None
        found, trial = list[RackCircuit](), self.copy()
        trial.take(held_links(kept))
        for a, b in self._upper.joined(len(racks)) if demand.links else ():
            circuits = [each for each in kept if racks_joined(each) == (rack_name(racks[a]), rack_name(racks[b]))]
            more = trial._between(racks[a], racks[b], demand.links - _number(circuits))
            if _number(circuits) + _number(more) != demand.links:
                return None
            trial.take(held_links(more))
            found += [*circuits, *more]
        return self.counted(demand, racks, found) if {*kept} <= {*found} else None

    def counted(self, demand: Demand, racks: Sequence[int], circuits: Sequence[RackCircuit]) -> HeldLinks:
        """All that a job with these circuits holds between these racks."""
        return held_links(circuits, dict.fromkeys(self._upper.parts(racks) if demand.links else (), demand.links))

    def of(self, placed: Placed) -> HeldLinks:
        """All that a job holds which is placed by name."""
        return held_links(placed.upper, links_held(self._fabric, placed.configuration, placed.devices))

    def take(self, held: HeldLinks) -> None:
        """A job holds these links."""
        for part, number in held.counted:
            self.free[part] -= number
        for name, bits in held.masks:
            self._owned[name] = self._owned.get(name, 0) | bits

    def release(self, held: HeldLinks) -> None:
        """A job gives these links back."""
        for part, number in held.counted:
            self.free[part] += number
        for name, bits in held.masks:
            self._owned[name] &= ~bits

    @property
    def taken(self) -> Mapping[str, int]:
        """Masks of ports by direction and of wavelengths by fiber that jobs hold."""
        return {name: bits for name, bits in self._owned.items() if bits}

    @property
    def state(self) -> tuple[object, ...]:
        """Equal where the same links are free."""
        return tuple(self.free.values()), tuple(sorted(self.taken.items()))

    def still_free(self, held: HeldLinks) -> HeldLinks:
        """What nobody holds of some links."""
        counted = tuple((part, min(number, max(0, self.free[part]))) for part, number in held.counted)
        return HeldLinks(counted, tuple((name, bits & ~self._owned.get(name, 0)) for name, bits in held.masks))

    def are_free(self, held: HeldLinks) -> bool:
        """True if nobody holds any of some links."""
        is_enough = all(self.free[part] >= number for part, number in held.counted)
        return is_enough and not any(self._owned.get(name, 0) & bits for name, bits in held.masks)

    def _between(self, source: int, destination: int, links: int) -> list[RackCircuit]:
        """Circuits of so many links from one rack to another, or of fewer, over the first that are free."""
        found: list[RackCircuit] = []
        if isinstance(self._upper, UpperSwitches):
            for switch in self._ports_of:
                found += self.over(switch, source, destination, links - len(found))
            return found
        ends = rack_name(source), rack_name(destination)
        for fiber, wavelengths in self._by_name[source, destination].items():
            free = [w for w in range(wavelengths) if not self._owned.get(fiber, 0) >> w & 1][:links]
            if free:
                found.append(circuit_between(*ends, fiber, free))
                links -= len(free)
        return found

    def over(self, switch: str, source: int, destination: int, links: int) -> list[RackCircuit]:
        """So many circuits over one switch, or fewer, from the first free ports to the first free ones."""
        out, into = self._ports(switch, source, OUT), self._ports(switch, destination, IN)
        return [circuit_between(a, b, switch) for a, b in zip(out, into, strict=False)][:links]

    def free_ports(self) -> dict[str, tuple[list[int], list[int]]]:
        """Of each switch that works: free ports out of each rack, and into each rack."""

        def free(switch: str, end: str) -> list[int]:
            return [len(self._ports(switch, rack, end)) for rack in range(self._fabric.racks)]

        return {switch: (free(switch, OUT), free(switch, IN)) for switch in sorted(self._working)}

    def _ports(self, switch: str, rack: int, end: str) -> list[str]:
        """Ports of a rack at a switch that are free in one direction; none where the switch has failed."""
        if switch not in self._working:
            return []
        names = (f"{rack_name(rack)}.p{number}" for number in self._ports_of.get(switch, ()))
        return [name for name in names if not self._owned.get(name + end)]
