"""Fewest moved ranks, and then fewest changed circuits, that repair a tiny plan: by enumeration, from RULES.md."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, Plan
from tests.oracles.light import Given, LightSearch, Tenant
from tests.oracles.light_paths import Device, Light, LightPaths

Places = tuple[Device, ...]
MAX_STEPS = 40_000


Row = tuple[tuple[int, int], Sequence[Light], Given | None]
"""(tenant, configuration) of a circuit, every way to run it, and the (route, wavelengths) it had"""


@dataclass(frozen=True)
class Fewest:
    """Moved ranks, and changed circuits; None where counting them takes too many steps."""

    moves: int
    changes: int | None


def fewest(instance: Instance, plan: Plan) -> Fewest | None:
    """What the least repair of a plan on a damaged instance costs; None where jobs cannot go on as they run."""
    return _Enumeration(instance, plan).solve()


class _Enumeration:
    def __init__(self, instance: Instance, plan: Plan) -> None:
        self.instance, self.plan = instance, plan
        cluster = self.cluster = instance.cluster
        self.fabric = cluster.fabric
        self.paths = LightPaths(cluster) if cluster.fabric.has_circuits else None
        self.light = None if self.paths is None else LightSearch(self.paths)
        servers = range(self.fabric.num_servers)
        self.healthy = [(s, slot) for s in servers for slot in cluster.healthy_slots(s)]
        self.lit = {(s, slot) for s in servers for slot in cluster.lit_slots(s)}
        self.now = [tuple(self.fabric.parse_device(name) for name in a.devices) for a in plan.assignments]

    def solve(self) -> Fewest | None:
        by_moves: dict[int, list[list[Places]]] = {}
        for devices in self._maps([]):
            by_moves.setdefault(self._moves(devices), []).append(devices)
        for moves in sorted(by_moves):
            good = [devices for devices in by_moves[moves] if self._can_shine(devices)]
            if good:
                changes = [self._changes(devices) for devices in good]
                known = [count for count in changes if count is not None]
                return Fewest(moves, min(known) if len(known) == len(changes) else None)
        return None

    def _moves(self, devices: Sequence[Places]) -> int:
        return sum(a != b for old, new in zip(self.now, devices, strict=True) for a, b in zip(old, new, strict=True))

    def _maps(self, chosen: list[Places]) -> Iterator[list[Places]]:
        """Devices of all jobs that the rules of ranks, blocks, racks, ports and residents allow."""
        if len(chosen) == len(self.now):
            if self._saves_ports(chosen):
                yield list(chosen)
            return
        used = {device for places in chosen for device in places}
        for places in self._places(len(chosen), used, ()):
            yield from self._maps([*chosen, places])

    def _places(self, job: int, used: set[Device], first: Places) -> Iterator[Places]:
        assignment = self.plan.assignments[job]
        size, block = len(assignment.devices), assignment.configuration.block
        if self._is_immovable(assignment):
            if not used & set(self.now[job]):
                yield self.now[job]
            return
        if len(first) == size:
            asked = self.instance.job(assignment.job).constraints.per_server
            if asked is None or all(sum(d[0] == s for d in first) == asked for s, _ in first):
                yield first
            return
        for device in self.healthy:
            if device in used or device in first or (size > 1 and device not in self.lit):
                continue
            places = (*first, device)
            blocks = [places[i : i + block] for i in range(0, len(places), block)]
            racks = {self.fabric.rack_of(d[0]) for d in places}
            if any(len({d[0] for d in b}) > 1 for b in blocks) or (len(racks) > 1 and not self.fabric.links_racks):
                continue
            yield from self._places(job, used, places)

    def _is_immovable(self, assignment: Assignment) -> bool:
        job = self.instance.job(assignment.job)
        return isinstance(job, Resident) and not job.movable

    def _saves_ports(self, devices: Sequence[Places]) -> bool:
        """A single-device job that moves leaves a working port where it can."""
        taken = {device for places in devices for device in places}
        spare = {d[0] for d in self.healthy if d not in self.lit and d not in taken}
        entered = [new[0] for old, new in zip(self.now, devices, strict=True) if len(new) == 1 and new != old]
        return not any(device in self.lit and device[0] in spare for device in entered)

    def _tenants(self, devices: Sequence[Places]) -> list[Tenant]:
        tenants = []
        for assignment, places in zip(self.plan.assignments, devices, strict=True):
            rank = {name: i for i, name in enumerate(assignment.devices)}
            held = tuple(
                tuple((places[rank[c.source]], places[rank[c.destination]], len(c.wavelengths)) for c in h.circuits)
                for h in assignment.circuits
            )
            given = None
            if self._is_immovable(assignment):
                given = tuple(
                    tuple(self._beam(c.fibers, c.wavelengths) for c in h.circuits) for h in assignment.circuits
                )
            tenants.append(Tenant(held, given))
        return tenants

    def _beam(self, fibers: Sequence[str], wavelengths: Sequence[int]) -> Given:
        assert self.paths is not None
        names = {self.paths.fabric.fiber_name(*fiber): i for i, fiber in enumerate(self.paths.fibers)}
        return tuple(names.get(fiber, -1) for fiber in fibers), sum(1 << w for w in wavelengths)

    def _can_shine(self, devices: Sequence[Places]) -> bool:
        return self.light is None or self.light.route(self._tenants(devices)) is not None

    def _changes(self, devices: Sequence[Places]) -> int | None:
        """Fewest circuits that differ from those of the plan, by deepening; None past MAX_STEPS."""
        if self.paths is None:
            return 0
        rows: list[Row] = []
        for job, tenant in enumerate(self._tenants(devices)):
            held = self.plan.assignments[job].circuits
            for c, circuits in enumerate(tenant.configurations):
                for i, circuit in enumerate(circuits):
                    name = held[c].circuits[i]
                    ends = self.fabric.parse_device(name.source), self.fabric.parse_device(name.destination)
                    old = self._beam(name.fibers, name.wavelengths) if ends == circuit[:2] else None
                    domain = self.paths.domain(circuit)
                    if tenant.given is not None:
                        domain = tuple(light for light in domain if light[:2] == tenant.given[c][i])
                    rows.append(((job, c), domain, old))
        return least_changes(rows)


def least_changes(rows: Sequence[Row]) -> int | None:
    """Fewest circuits that do not run as they did, by deepening; None past MAX_STEPS or where not all can run."""
    for budget in range(len(rows) + 1):
        found = _Deepening(rows).within(0, budget, {}, {})
        if found is not False:
            return budget if found else None
    return None


class _Deepening:
    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows, self.steps = rows, 0

    def within(self, index: int, budget: int, own: dict[tuple[int, int], int], shared: dict[int, int]) -> bool | None:
        """Whether light with so many changes exists; None where steps ran out."""
        if index == len(self.rows):
            return True
        self.steps += 1
        if self.steps > MAX_STEPS:
            return None
        key, domain, old = self.rows[index]
        for light in sorted(domain, key=lambda light: light[:2] != old):
            cost = int(light[:2] != old)
            if cost > budget or light.own & own.get(key, 0):
                continue
            if any(light.shared & used for job, used in shared.items() if job != key[0]):
                continue
            more_own = {**own, key: own.get(key, 0) | light.own}
            more_shared = {**shared, key[0]: shared.get(key[0], 0) | light.shared}
            found = self.within(index + 1, budget - cost, more_own, more_shared)
            if found is not False:
                return found
        return False
