"""What is wrong with a wiring: against the fabric, and against what switches see at their ports."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from costmodel.fabrics import FabricBase
from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import BOTH, End
from planner.integrations.wiring.cables import Cable, CableTable


@dataclass(frozen=True)
class WiringFault:
    """One thing to mend."""

    kind: str
    """missing, doubled, unknown, miswired or loss"""
    where: str
    """switch and port, or switch and end"""
    message: str


def faults_of(
    fabric: FabricBase,
    table: CableTable,
    seen: Mapping[tuple[str, str], str] | None = None,
    most_loss_db: float | None = None,
) -> list[WiringFault]:
    """All faults of a wiring. `seen`: ends by switch and port, as the switches report them; ports of which they report
    nothing are not judged. `most_loss_db`: of both cables of a circuit."""
    found = [*_unknown(fabric, table), *_doubled(table), *_missing(fabric, table)]
    found += _miswired(table, seen) if seen is not None else ()
    return [*found, *(_lossy(table, most_loss_db) if most_loss_db is not None else ())]


def _unknown(fabric: FabricBase, table: CableTable) -> Iterator[WiringFault]:
    """Ends that the fabric does not have there."""
    wanted = set(plugin_of(fabric).switch_ports.ends(fabric))
    switches = {end.switch for end in wanted}
    for cable in table.cables:
        where = f"{cable.switch} {cable.port}"
        if cable.switch not in switches:
            yield WiringFault("unknown", where, f"{_at(cable)}the fabric has no switch {cable.switch}")
        elif End(cable.switch, cable.end, cable.direction) not in wanted:
            known = any(End(cable.switch, cable.end, other) in wanted for other in BOTH)
            said = f"has no {cable.direction}" if known else "has no port"
            yield WiringFault("unknown", where, f"{_at(cable)}{cable.switch} {said} for {cable.end}")


def _doubled(table: CableTable) -> Iterator[WiringFault]:
    """Ports with several cables, and ends with several ports."""
    ports, ends = defaultdict[tuple[str, str], list[Cable]](list), defaultdict[End, list[Cable]](list)
    for cable in table.cables:
        ports[cable.switch, cable.port].append(cable)
        ends[End(cable.switch, cable.end, cable.direction)].append(cable)
    for (switch, port), cables in ports.items():
        if len(cables) > 1:
            names = " and ".join(cable.end for cable in cables)
            yield WiringFault("doubled", f"{switch} {port}", f"{_at(*cables)}port {port} of {switch} leads to {names}")
    for end, cables in ends.items():
        if len(cables) > 1:
            names = " and ".join(cable.port for cable in cables)
            message = f"{_at(*cables)}the {end.direction} of {end.end} at {end.switch} is plugged into {names}"
            yield WiringFault("doubled", f"{end.switch} {end.end}", message)


def _missing(fabric: FabricBase, table: CableTable) -> Iterator[WiringFault]:
    for end in plugin_of(fabric).switch_ports.ends(fabric):
        if end not in table.port_of:
            message = f"no port of {end.switch} has the {end.direction} of {end.end}"
            yield WiringFault("missing", f"{end.switch} {end.end}", message)


def _miswired(table: CableTable, seen: Mapping[tuple[str, str], str]) -> Iterator[WiringFault]:
    """Ports at which a switch sees another end, with the port where the wiring has that one."""
    for cable in table.cables:
        found = seen.get((cable.switch, cable.port), cable.end)
        if found != cable.end:
            there = table.port_of.get(End(cable.switch, found, cable.direction))
            hint = ""
            if there is not None:
                swapped = seen.get((cable.switch, there)) == cable.end
                hint = f"; {cable.port} and {there} are swapped" if swapped else f", which belongs to {there}"
            message = f"{_at(cable)}port {cable.port} of {cable.switch} should see {cable.end}, and sees {found}{hint}"
            yield WiringFault("miswired", f"{cable.switch} {cable.port}", message)
    known = {(cable.switch, cable.port) for cable in table.cables}
    for (switch, port), end in seen.items():
        if (switch, port) not in known:
            message = f"port {port} of {switch} sees {end}, and the wiring has no such port"
            yield WiringFault("miswired", f"{switch} {port}", message)


def _lossy(table: CableTable, most_loss_db: float) -> Iterator[WiringFault]:
    """Cables that leave no loss to any other one."""
    least: dict[tuple[str, str], float] = {}
    for cable in table.cables:
        key = cable.switch, cable.direction
        least[key] = min(least.get(key, float("inf")), cable.loss_db or 0.0)
    for cable in table.cables:
        other = least.get((cable.switch, "output" if cable.direction == "input" else "input"), 0.0)
        loss_db = cable.loss_db or 0.0
        if loss_db + other > most_loss_db:
            message = (
                f"{_at(cable)}the cable of port {cable.port} of {cable.switch} loses {loss_db:g} dB: with the best one "
                f"on the other side {loss_db + other:g} dB, more than {most_loss_db:g} dB"
            )
            yield WiringFault("loss", f"{cable.switch} {cable.port}", message)


def _at(*cables: Cable) -> str:
    """Where the file has cables."""
    places = [cable.place for cable in cables if cable.place]
    return f"{' and '.join(places)}: " if places else ""
