"""Wavelengths and peers of a tile."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from costmodel.fabrics import Lightpath
from planner.checks.names import admitted
from planner.model.instance import Instance
from planner.model.plan import HeldCircuits, Plan
from planner.model.violation import Violation


def check_tile(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """In one configuration, each way: wavelengths and peers within limits, a wavelength in one circuit."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    for job, assignment in admitted(instance, plan):
        for number, held in enumerate(assignment.circuits):
            where = f"{job.name}: configuration {number}"
            for is_sender in (True, False):
                room = fabric.wavelengths_per_tile - (assignment.configuration.memory_io or 0)
                yield from _check_side(fabric, held, where, is_sender, room)


def _check_side(fabric: Lightpath, held: HeldCircuits, where: str, is_sender: bool, room: int) -> Iterator[Violation]:
    """Tiles as senders, or as receivers, of the circuits of one configuration; `room` is the wavelengths that memory
    modules leave of a tile."""
    verb = "sends" if is_sender else "receives"
    lit: defaultdict[str, list[int]] = defaultdict(list)
    peers: defaultdict[str, set[str]] = defaultdict(set)
    for circuit in held.circuits:
        ends = circuit.source, circuit.destination
        tile, peer = ends if is_sender else ends[::-1]
        lit[tile] += {*circuit.wavelengths}
        peers[tile].add(peer)
    for tile, numbers in lit.items():
        if len({*numbers}) == len(numbers) <= room and len(peers[tile]) <= fabric.max_peers:
            continue
        wavelengths = Counter(numbers)
        excess = wavelengths.total() - room
        if excess > 0:
            message = f"{where}: {tile} {verb} {wavelengths.total()} of {room} wavelengths"
            yield Violation("tile", tile, message, float(excess))
        excess = len(peers[tile]) - fabric.max_peers
        if excess > 0:
            message = f"{where}: {tile} has {len(peers[tile])} peers, at most {fabric.max_peers}"
            yield Violation("tile", tile, message, float(excess))
        for wavelength, count in wavelengths.items():
            if count > 1:
                message = f"{where}: {tile} {verb} wavelength {wavelength} in {count} circuits"
                yield Violation("tile", tile, message, count - 1.0)
