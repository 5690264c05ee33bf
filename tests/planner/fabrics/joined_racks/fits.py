"""Which rows of a kind of jobs find a place on joined racks of one server each, by trying all choices of racks."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, permutations
from typing import Any

from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement

RACKS = 3


def rows_that_fit(kind: JobClass, upper: dict[str, Any], tiles: int, running: Iterable[Placement]) -> list[int]:
    """Numbers of the rows, the most valuable first."""
    running = list(running)
    free = Counter(dict.fromkeys(range(RACKS), tiles))
    for placement in running:
        free.subtract(rack for rack, _ in placement.devices)
    left = _Left(upper, tiles, running)
    return [number for number, row in enumerate(kind.rows) if any(_choices(row, free, left))]


def _choices(row: Any, free: Counter[int], left: "_Left") -> Iterator[bool]:
    configuration = row.options.candidates.configuration(row.number)
    collective, size = configuration.data_collective, row.shape.num_ranks
    for racks in combinations(range(RACKS), collective.racks):
        links = collective.links if collective.racks > 1 else 0
        yield all(free[rack] >= size // len(racks) for rack in racks) and left.has(racks, links)


class _Left:
    """Links that nobody holds."""

    def __init__(self, upper: dict[str, Any], tiles: int, running: list[Placement]) -> None:
        self._upper = upper
        self._uplinks = Counter({rack: tiles // upper.get("oversubscription", 1) for rack in range(RACKS)})
        self._used: set[tuple[str, object]] = set()
        for placement in running:
            collective = placement.row.options.candidates.configuration(placement.row.number).data_collective
            if collective.racks > 1 and upper["kind"] == "packets":
                self._uplinks.subtract(dict.fromkeys({rack for rack, _ in placement.devices}, collective.links))
            for circuit in placement.links.circuits if placement.links is not None else ():
                self._used |= {(circuit.source, "out"), (circuit.destination, "in")}
                self._used |= {(circuit.over, wavelength) for wavelength in circuit.wavelengths}

    def has(self, racks: tuple[int, ...], links: int) -> bool:
        kind = self._upper["kind"]
        if not links:
            return True
        if kind == "packets":
            return all(self._uplinks[rack] >= links for rack in racks)
        if kind == "fibers":
            return all(self._wavelengths(a, b) >= links for a, b in permutations(racks, 2))
        return all(self._circuits(rack, racks[(i + 1) % len(racks)]) >= links for i, rack in enumerate(racks))

    def _wavelengths(self, a: int, b: int) -> int:
        names = (f"r{a}>r{b}#{index}" for index in range(self._upper["fibers"]))
        each = range(self._upper["wavelengths_per_fiber"])
        return sum((name, wavelength) not in self._used for name in names for wavelength in each)

    def _circuits(self, a: int, b: int) -> int:
        """Most circuits from a rack to another through switches with so many ports of each."""
        each, total = self._upper["radix"] // RACKS, 0
        for first in range(0, self._upper["ports"], each):
            ports = range(first, min(first + each, self._upper["ports"]))
            ways = (
                sum((f"r{rack}.p{p}", way) not in self._used for p in ports) for rack, way in ((a, "out"), (b, "in"))
            )
            total += min(ways)
        return total
