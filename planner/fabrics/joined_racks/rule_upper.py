"""The layer that joins racks: its links, and the circuits over it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations

from costmodel.fabrics import FabricBase, UpperFibers, UpperLayer, UpperPackets, UpperSwitches
from planner.checks.names import admitted, tiles_in
from planner.checks.rack import check_rack
from planner.model.instance import Instance
from planner.model.lying import Lying
from planner.model.plan import Plan, RackCircuit
from planner.model.violation import Violation

Hold = tuple[str, ...]
"""what one circuit alone may hold: (port, direction), or (fiber, wavelength)"""


def check_joined_racks(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Jobs lie in one rack, or in equal parts in several, and what joins these is theirs alone."""
    yield from check_rack(instance, plan)
    yield from check_upper(instance, plan)


def check_upper(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Jobs over several racks hold the links between these that they ask for, and no two the same."""
    cluster, upper = instance.cluster, instance.cluster.fabric.upper_layer
    uplinks: Counter[int] = Counter()
    owners: dict[Hold, str] = {}
    for job, assignment in admitted(instance, plan):
        racks = sorted({s // cluster.fabric.servers for s, _ in tiles_in(cluster, assignment.devices)})
        asked = assignment.configuration.data_collective
        links = asked.links if asked.racks > 1 else 0
        if isinstance(upper, UpperPackets):
            uplinks.update(dict.fromkeys(racks, links))
        for number, message in _wrong_numbers(racks, links, upper, assignment.upper):
            yield Violation("rack", assignment.job, f"{assignment.job}: {message}", float(number))
        for circuit in assignment.upper:
            has_failed = circuit.over in cluster.health.failed_upper
            holds = None if upper is None or has_failed else _holds(cluster.fabric, upper, circuit)
            if holds is None:
                message = (
                    f"{job.name}: no circuit leads from {circuit.source} to {circuit.destination} over {circuit.over}"
                )
                yield Violation("rack", job.name, message)
            for hold in holds or ():
                if hold in owners:
                    message = f"{' '.join(hold)} belongs to {owners[hold]} and to {job.name}"
                    yield Violation("rack", f"{job.name}: {' '.join(hold)}", message)
                owners.setdefault(hold, job.name)
    if isinstance(upper, UpperPackets):
        most = int(cluster.fabric.servers * cluster.fabric.devices_per_server / upper.oversubscription)
        for rack, number in sorted(uplinks.items()):
            if number > most:
                message = f"jobs hold {number} uplinks of rack {rack}, which has {most}"
                yield Violation("rack", f"r{rack}", message, float(number - most))


def wrong_above(fabric: FabricBase, place: Lying) -> str | None:
    """What is wrong with the circuits between racks of a job alone, in words; None where nothing is."""
    racks, upper = sorted({server // fabric.servers for server in place.servers}), fabric.upper_layer
    if upper is None or (len(racks) == 1 and not place.upper):
        return None
    asked, held = place.configuration.data_collective, list[Hold]()
    for _, message in _wrong_numbers(racks, asked.links if asked.racks > 1 else 0, upper, place.upper):
        return message
    for circuit in place.upper:
        holds = _holds(fabric, upper, circuit)
        if holds is None:
            return f"no circuit leads from {circuit.source} to {circuit.destination} over {circuit.over}"
        held += holds
    return next((f"{' '.join(hold)} is held twice" for hold, count in Counter(held).items() if count > 1), None)


def _wrong_numbers(
    racks: Sequence[int], links: int, upper: UpperLayer | None, circuits: Sequence[RackCircuit]
) -> Iterator[tuple[int, str]]:
    """Links too many or too few, with words: as many as asked for join the racks that exchange what they have."""
    wanted: Counter[tuple[str, str]] = Counter()
    if isinstance(upper, UpperSwitches):
        following = zip(racks, [*racks[1:], *racks[:1]], strict=True)
        wanted.update({(f"r{a}", f"r{b}"): links for a, b in following if links})
    elif isinstance(upper, UpperFibers):
        wanted.update({(f"r{a}", f"r{b}"): links for a, b in permutations(racks, 2) if links})
    given: Counter[tuple[str, str]] = Counter()
    for circuit in circuits:
        ends = circuit.source.partition(".")[0], circuit.destination.partition(".")[0]
        given[ends] += len({*circuit.wavelengths}) or 1
    for a, b in sorted(wanted.keys() | given.keys()):
        if wanted[a, b] != given[a, b]:
            message = f"has {given[a, b]} links from {a} to {b}, not {wanted[a, b]}"
            yield abs(wanted[a, b] - given[a, b]), message


def _holds(fabric: FabricBase, upper: UpperLayer, circuit: RackCircuit) -> list[Hold] | None:
    """What a circuit holds; None where the layer has no such circuit."""
    if isinstance(upper, UpperSwitches):
        each = min(upper.radix // fabric.racks, upper.ports)
        for end in (circuit.source, circuit.destination):
            match = re.fullmatch(r"r(0|[1-9]\d*)\.p(0|[1-9]\d*)", end)
            if match is None or int(match[1]) >= fabric.racks or int(match[2]) >= upper.ports:
                return None
            if circuit.over != f"u{int(match[2]) // each}":
                return None
        return None if circuit.wavelengths else [(circuit.source, "out"), (circuit.destination, "in")]
    if isinstance(upper, UpperFibers):
        match = re.fullmatch(r"r(0|[1-9]\d*)>r(0|[1-9]\d*)#(0|[1-9]\d*)", circuit.over)
        if match is None or (f"r{match[1]}", f"r{match[2]}") != (circuit.source, circuit.destination):
            return None
        if int(match[3]) >= _fibers(upper, circuit.source, circuit.destination):
            return None
        in_use = {*circuit.wavelengths}
        if not in_use or not in_use <= {*range(upper.wavelengths_per_fiber)} or len(in_use) < len(circuit.wavelengths):
            return None
        return [(circuit.over, f"wavelength {number}") for number in sorted(in_use)]
    return None


def _fibers(upper: UpperFibers, source: str, destination: str) -> int:
    """Fibers from one rack to another with no more loss than may be."""
    loss_db, count = upper.loss_db, upper.fibers
    if not isinstance(count, int):
        bundle = next((b for b in upper.fibers if (b.source, b.destination) == (source, destination)), None)  # type: ignore[union-attr]
        if bundle is None:
            return 0
        count, loss_db = bundle.count, upper.loss_db if bundle.loss_db is None else bundle.loss_db
    return 0 if upper.loss_budget_db is not None and loss_db > upper.loss_budget_db else count
