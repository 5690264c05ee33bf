"""A placement alone on fibers: its circuits by rank are those required, each rank and fiber within its limits."""

from collections import Counter
from collections.abc import Hashable, Iterable

from costmodel.fabrics import FabricBase, Lightpath
from planner.checks.isolation import Isolation, Required, numbered
from planner.fabrics.joined_racks.rule_upper import wrong_above
from planner.model.cluster import Cluster
from planner.model.lying import Lying, Wire


class LightpathIsolation(Isolation):
    """Where slots matter, or light may cross third servers, all rules look at every placement; else wires say it."""

    def is_checked(self, fabric: FabricBase) -> bool:
        assert isinstance(fabric, Lightpath)
        return bool(fabric.transit or fabric.slots_matter)

    def lie(self, cluster: Cluster, place: Lying) -> Hashable:
        servers = numbered([server for server, _ in place.devices])
        return (place.devices if self.is_checked(cluster.fabric) else servers), place.wiring.name, place.upper

    def wrong(self, fabric: FabricBase, place: Lying, required: Required) -> str | None:
        assert isinstance(fabric, Lightpath)
        given, asked = place.wiring.configurations, required()
        if asked is None or len(asked) != len(given):
            return "its circuits are not those of its configuration"
        for (dimension, links), (name, wires) in zip(asked, given, strict=True):
            found = {(source, destination): mask.bit_count() for source, destination, mask, _ in wires}
            if dimension != name or links != found or len(found) != len(wires):
                return f"its circuits along {name} are not those of its configuration"
            wrong = _wrong_light(fabric, name, wires)
            if wrong is not None:
                return wrong
        return None if fabric.transit else _apart(place)

    def wrong_here(self, fabric: FabricBase, place: Lying) -> str | None:
        assert isinstance(fabric, Lightpath)
        for (a, b, index), _ in place.wiring.fiber_masks:
            source, destination = place.servers[a], place.servers[b]
            if not 0 <= index < fabric.num_fibers(source, destination):
                return f"fiber {fabric.fiber_name(source, destination, index)} carries no light"
        return wrong_above(fabric, place)


def _apart(place: Lying) -> str | None:
    """Routes that do not lead from rank to rank over one fiber, or none inside a server."""
    number = numbered([server for server, _ in place.devices])
    for _, wires in place.wiring.configurations:
        for source, destination, _, route in wires:
            a, b = number[source], number[destination]
            if (a == b and route) or (a != b and [step[:2] for step in route] != [(a, b)]):
                return f"the circuit from rank {source} to {destination} does not join them"
    return None


def _wrong_light(fabric: Lightpath, given: str, wires: Iterable[Wire]) -> str | None:
    """Limits of ranks and fibers within one configuration."""
    sides: tuple[dict[int, int], dict[int, int]] = ({}, {})
    peers: Counter[tuple[int, int]] = Counter()
    used: dict[object, int] = {}
    for source, destination, mask, route in wires:
        limit = min(fabric.wavelengths_per_tile, fabric.wavelengths_per_fiber) if route else fabric.wavelengths_per_tile
        if mask >> limit:
            return f"a wavelength along {given} does not exist"
        for side, rank in enumerate((source, destination)):
            if sides[side].get(rank, 0) & mask:
                return f"rank {rank} uses a wavelength twice along {given}"
            sides[side][rank] = sides[side].get(rank, 0) | mask
            peers[side, rank] += 1
        for step in route:
            if used.get(step, 0) & mask:
                return f"two circuits along {given} share a wavelength of a fiber"
            used[step] = used.get(step, 0) | mask
    if max(peers.values(), default=0) > fabric.max_peers:
        return f"a rank has more than {fabric.max_peers} peers along {given}"
    return None
