"""Who holds what of the layer above racks, counted anew from placements by number; shares no code with free states."""

from collections import Counter
from collections.abc import Iterable
from itertools import permutations
from typing import Any

from planner.fabrics.placement import Placement
from planner.model.cluster import Cluster


def faults(cluster: Cluster, upper: dict[str, Any], placements: Iterable[Placement]) -> list[str]:
    """All that is wrong with jobs that run together: devices, parts by rack, and links between racks."""
    found, devices, held, uplinks = list[str](), Counter[object](), Counter[object](), Counter[int]()
    fabric = cluster.fabric
    for number, placement in enumerate(placements):
        devices.update(placement.held)
        collective = placement.row.options.candidates.configuration(placement.row.number).data_collective
        racks = [server // fabric.servers for server, _ in placement.devices]
        size = len(racks) // collective.racks
        runs = [{*racks[first : first + size]} for first in range(0, len(racks), size)]
        order = [min(run) for run in runs]
        if len(runs) != collective.racks or any(len(run) > 1 for run in runs) or order != sorted({*order}):
            found.append(f"{number}: racks {racks}")
        if not cluster.failed_devices.isdisjoint(placement.devices):
            found.append(f"{number}: stands on a failed device")
        links = collective.links if collective.racks > 1 else 0
        circuits = placement.links.circuits if placement.links is not None else ()
        if upper["kind"] == "packets":
            uplinks.update(dict.fromkeys(order, links))
        found += [f"{number}: {wrong}" for wrong in _wrong(upper, order, links, circuits)]
        for circuit in circuits:
            if circuit.over in cluster.health.failed_upper:
                found.append(f"{number}: {circuit.over} has failed")
            each = {(circuit.over, w) for w in circuit.wavelengths} or {
                (circuit.source, "out"), (circuit.destination, "in"),
            }  # fmt: skip
            held.update(each)
    found += [f"{part} twice" for part, count in (*devices.items(), *held.items()) if count > 1]
    if upper["kind"] == "packets":
        most = int(fabric.servers * fabric.devices_per_server / upper.get("oversubscription", 1))
        found += [f"r{rack}: {count} uplinks" for rack, count in uplinks.items() if count > most]
    return found


def _wrong(upper: dict[str, Any], racks: list[int], links: int, circuits: Iterable[Any]) -> list[str]:
    """Circuits that are not those of so many links between these racks."""
    pairs: list[tuple[int, int]] = []
    if upper["kind"] == "switches" and len(racks) > 1:
        pairs = [(rack, racks[(place + 1) % len(racks)]) for place, rack in enumerate(racks)]
    if upper["kind"] == "fibers":
        pairs = [*permutations(racks, 2)]
    wanted = Counter({(f"r{a}", f"r{b}"): links for a, b in pairs if links})
    given = Counter[tuple[str, str]]()
    for circuit in circuits:
        ends = circuit.source.split(".")[0], circuit.destination.split(".")[0]
        given[ends] += max(1, len(circuit.wavelengths))
    return [] if wanted == given else [f"links {dict(given)}, not {dict(wanted)}"]
