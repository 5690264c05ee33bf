"""Every placement of a few jobs on a tiny cluster, and the least fragmentation that light allows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

from planner.model.instance import Instance
from planner.model.job import Resident
from tests.oracles.by_rack import is_asked, racks_given
from tests.oracles.choices import Demand, Mode
from tests.oracles.free_space import Links, fragmentation
from tests.oracles.light import Given, LightSearch, Routing, Tenant
from tests.oracles.light_paths import Device, LightPaths

Modes = tuple[Mode | None, ...]
Devices = tuple[Device, ...]


@dataclass(frozen=True)
class Placed:
    """Devices by rank and light of each job; () where it is not admitted."""

    devices: tuple[Devices, ...]
    routing: Routing
    fragmentation: float


class PlacementSearch:
    """Placements of combinations of modes; remembers what it found."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.cluster = cluster = instance.cluster
        self.fabric = cluster.fabric
        self.paths = LightPaths(cluster) if cluster.fabric.has_circuits else None
        self._light = None if self.paths is None else LightSearch(self.paths)
        servers = range(self.fabric.num_servers)
        self.healthy = [(server, slot) for server in servers for slot in cluster.healthy_slots(server)]
        self.lit = {(server, slot) for server in servers for slot in cluster.lit_slots(server)}
        self.can_run = cache(self._can_run)
        self.least_fragmented = cache(self._least_fragmented)

    def _can_run(self, modes: Modes) -> bool:
        """Whether the jobs fit together under these modes."""
        admitted = [job for job, mode in enumerate(modes) if mode is not None]
        if len(admitted) > 2:
            for pair in combinations(admitted, 2):
                if not self.can_run(tuple(mode if job in pair else None for job, mode in enumerate(modes))):
                    return False
        return any(self._route(modes, devices) is not None for devices in self._placements(modes))

    def _least_fragmented(self, modes: Modes) -> Placed | None:
        """Placement and light that leave the least fragmentation; None where the jobs do not fit together."""
        if not self.can_run(modes):
            return None
        best: Placed | None = None
        bound = self.fragmentation_bound(modes)
        for devices in self._placements(modes):
            found = self._with_dark_fibers(modes, devices, best)
            best = best if found is None else found
            if best is not None and best.fragmentation <= bound:
                break
        return best

    def fragmentation_bound(self, modes: Modes) -> float:
        """Least fragmentation of any way to choose as many devices, with all fibers dark."""
        free = len(self.healthy) - sum(mode.num_devices for mode in modes if mode is not None)
        return self._least_of(free)

    @cache  # noqa: B019
    def _least_of(self, free: int) -> float:
        most = [range(count + 1) for count in self._lit_counts(self.lit)]
        num_dark = len(self.healthy) - len(self.lit)
        links = self._most_links()
        return min(
            self._fragmentation(free, lit, links) for lit in product(*most) if free - num_dark <= sum(lit) <= free
        )

    def _lit_counts(self, free: set[Device]) -> tuple[int, ...]:
        lit = free & self.lit
        return tuple(sum(d[0] == server for d in lit) for server in range(self.fabric.num_servers))

    def _most_links(self) -> Links:
        """Jobs that may span two servers while all fibers are dark."""
        pairs = combinations(range(self.fabric.num_servers), 2)
        if self.paths is None:
            return tuple((a, b, self.fabric.num_devices) for a, b in pairs)
        healthy = self.paths.num_healthy
        return tuple((a, b, min(healthy[a, b], healthy[b, a])) for a, b in pairs)

    def _fewer_links(self) -> Iterator[Links]:
        """All numbers of jobs that may span two servers, and need as many dark fibers each way."""
        most = self._most_links() if self.paths is not None else ()
        for counts in product(*(range(count + 1) for _, _, count in most)):
            yield tuple((a, b, count) for (a, b, _), count in zip(most, counts, strict=True))

    def _fragmentation(self, free: int, lit: tuple[int, ...], links: Links) -> float:
        return fragmentation(self.instance.sizes_to_fit, free, lit, links)

    def _with_dark_fibers(self, modes: Modes, devices: Sequence[Devices], best: Placed | None) -> Placed | None:
        """The placement with the least fragmentation that light allows, if it is better than the best."""
        free = set(self.healthy).difference(*devices)
        lit = self._lit_counts(free)
        ways = self._fewer_links() if self.paths is not None else [self._most_links()]
        failed: list[Links] = []
        for value, links in sorted((self._fragmentation(len(free), lit, links), links) for links in ways):
            if best is not None and value >= best.fragmentation:
                return None
            if any(all(x[2] <= y[2] for x, y in zip(fewer, links, strict=True)) for fewer in failed):
                continue
            routing = self._route(modes, devices, links)
            if routing is not None:
                return Placed(tuple(devices), routing, value)
            failed.append(links)
        return None

    def _placements(self, modes: Modes) -> Iterator[tuple[Devices, ...]]:
        """Devices of all jobs; where slots are alike only the first of them are used."""
        order = sorted(
            (job for job, mode in enumerate(modes) if mode is not None),
            key=lambda job: (not modes[job].stays, -modes[job].num_devices),  # type: ignore[union-attr]
        )
        yield from self._extended(modes, order, ((),) * len(modes))

    def _extended(self, modes: Modes, order: list[int], devices: tuple[Devices, ...]) -> Iterator[tuple[Devices, ...]]:
        if not order:
            yield devices
            return
        job, mode = order[0], modes[order[0]]
        assert mode is not None
        free = [device for device in self.healthy if not any(device in own for own in devices)]
        for own in self._job_placements(job, mode, free):
            extended = (*devices[:job], own, *devices[job + 1 :])
            if self._overdraws_pools(modes, extended):
                continue
            if len(order) == 1 or self._route(modes, extended) is not None:
                yield from self._extended(modes, order[1:], extended)

    def _overdraws_pools(self, modes: Modes, devices: Sequence[Devices]) -> bool:
        """Whether ranks hold more modules of the pool of some server than it has."""
        held = Counter[int]()
        for mode, own in zip(modes, devices, strict=True):
            for server, _ in own:
                held[server] += 0 if mode is None else mode.units
        return any(number > self.fabric.memory.units for number in held.values() if number)

    def _job_placements(self, job: int, mode: Mode, free: list[Device]) -> Iterator[Devices]:
        """Placements of one job, one for each set of circuits between devices."""
        if mode.num_devices > 1 or mode.is_part:
            free = [device for device in free if device in self.lit]
        if mode.stays:
            current = self._current(job)
            if set(current) <= set(free) and self._keeps_layout(mode, current):
                yield current
            return
        if mode.num_devices == 1 and not mode.is_part:
            with_dark = {server for server, slot in free if (server, slot) not in self.lit}
            free = [device for device in free if device not in self.lit or device[0] not in with_dark]
        seen: set[object] = set()
        for devices in self._injections(mode, free, ()):
            key = frozenset(devices), frozenset(map(frozenset, _between(mode.demand, devices)))
            if key not in seen:
                seen.add(key)
                yield devices

    def _injections(self, mode: Mode, free: list[Device], chosen: Devices) -> Iterator[Devices]:
        if len(chosen) == mode.num_devices:
            yield chosen
            return
        tried: set[object] = set()
        for device in free:
            slots_matter = self.paths is not None and self.paths.slots_matter
            kind = device if slots_matter else (device[0], device in self.lit)
            if device in chosen or kind in tried or not self._keeps_layout(mode, (*chosen, device)):
                continue
            tried.add(kind)
            yield from self._injections(mode, free, (*chosen, device))

    def _keeps_layout(self, mode: Mode, devices: Devices) -> bool:
        """The rules of blocks, racks and servers, for the first ranks of a job."""
        if not self.fabric.links_racks and len({self.fabric.rack_of(device[0]) for device in devices}) > 1:
            return False
        if mode.per_server is not None:
            given = {server: sum(device[0] == server for device in devices) for server, _ in devices}
            is_complete = len(devices) == mode.num_devices
            if any(n > mode.per_server or (is_complete and n < mode.per_server) for n in given.values()):
                return False
        if mode.servers_by_rack is not None and len(devices) == mode.num_devices:
            given_by_rack = racks_given((server for server, _ in devices), self.fabric)
            if not is_asked(mode.servers_by_rack, given_by_rack):
                return False
        blocks = [devices[i : i + mode.block] for i in range(0, len(devices), mode.block)]
        return all(len({device[0] for device in block}) == 1 for block in blocks)

    def _current(self, job: int) -> Devices:
        resident = self.instance.all_jobs[job]
        assert isinstance(resident, Resident)
        return tuple(self.fabric.parse_device(name) for name in resident.devices)

    def _route(self, modes: Modes, devices: Sequence[Devices], dark: Links = ()) -> Routing | None:
        """Light of the jobs that are placed, so many healthy fibers of each pair unused as jobs shall span it."""
        if self.paths is None or self._light is None:
            return ((),) * len(modes)
        tenants = []
        for job, (mode, own) in enumerate(zip(modes, devices, strict=True)):
            demand = mode.demand if mode is not None and own else ()
            given = None
            if demand and mode is not None and mode.stays:
                given = self._given(job, demand)
                if given is None:
                    return None
            tenants.append(Tenant(_between(demand, own), given))
        spared = {pair: count for a, b, count in dark for pair in ((a, b), (b, a))}
        return self._light.route(tenants, {p: n - spared.get(p, 0) for p, n in self.paths.num_healthy.items()})

    @cache  # noqa: B019
    def _given(self, job: int, demand: Demand) -> tuple[tuple[Given, ...], ...] | None:
        """Current light of a resident, row for row with its circuits; None where it is not what they need."""
        resident = self.instance.all_jobs[job]
        assert isinstance(resident, Resident)
        assert self.paths is not None
        names = {self.paths.fabric.fiber_name(*fiber): i for i, fiber in enumerate(self.paths.fibers)}
        if len(resident.circuits) != len(demand):
            return None
        given = []
        for held, circuits in zip(resident.circuits, demand, strict=True):
            light = {(c.source, c.destination): (c.fibers, sum(1 << w for w in c.wavelengths)) for c in held.circuits}
            ends = [(resident.devices[a], resident.devices[b]) for a, b, _ in circuits]
            if sorted(ends) != sorted((c.source, c.destination) for c in held.circuits):
                return None
            rows = [light[pair] for pair in ends]
            if not all(fiber in names for fibers, _ in rows for fiber in fibers):
                return None
            given.append(tuple((tuple(names[fiber] for fiber in fibers), mask) for fibers, mask in rows))
        return tuple(given)


def _between(demand: Demand, devices: Devices) -> tuple[tuple[tuple[Device, Device, int], ...], ...]:
    """Circuits between devices instead of ranks."""
    return tuple(tuple((devices[a], devices[b], width) for a, b, width in circuits) for circuits in demand)
