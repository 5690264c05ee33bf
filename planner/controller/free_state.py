"""The fast board of a controller: places and gives back jobs by number, within a time limit, beside barred servers."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from costmodel.fabrics import OcsRail
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.placement.circuit_names import CircuitNamer, beams_of
from planner.placement.deadline import OutOfTimeError, TimedState
from planner.placement.job_classes import JobClass, Option
from planner.placement.placement import NO_WIRING, Place
from planner.placement.pool_placements import Clear, found_in_pool, held_in_pool
from planner.placement.state import Placement
from planner.placement.strategies import Blocks, tightest
from planner.whatif.failures import Failure, parse_failure, worsened

NOBODY: frozenset[int] = frozenset()


def failures_of(cluster: Cluster, name: str) -> list[Failure]:
    """What has failed with the part or the whole server of this name; InputError where it names neither."""
    fabric = cluster.fabric
    try:
        server = fabric.parse_server(name)
    except ValueError:
        return [parse_failure(cluster, name)]
    return [parse_failure(cluster, fabric.device_name(server, slot)) for slot in range(fabric.devices_per_server)]


@dataclass
class _Search:
    """Best fit that leaves some servers alone and ends in time: a strategy of `planner.simulate`."""

    barred: frozenset[int]
    deadline_s: float
    ran_out: bool = False

    def __call__(self, room: Sequence[int], servers: Sequence[int], parts: int, whole: int) -> Iterable[Blocks]:
        if time.perf_counter() > self.deadline_s:
            self.ran_out = True
            return ()
        if self.barred:
            servers = [server for server in servers if server not in self.barred]
        if sum(map(room.__getitem__, servers)) < parts:
            return ()
        return tightest(room, servers, parts, whole)


@dataclass(frozen=True)
class Found:
    """Outcome of a search: a placement, taken, with its place; or none, perhaps for lack of time."""

    placement: Placement | None = None
    place: Place | None = None
    ran_out: bool = False


class ControllerFreeState:
    """Devices and light of one cluster as parts fail and work again."""

    def __init__(self, cluster: Cluster) -> None:
        self._healthy = cluster
        self.wirer = CircuitNamer()
        self.cluster = cluster
        self.state = TimedState(cluster)
        self.working = [len(cluster.lit_slots(server)) for server in range(cluster.fabric.num_servers)]
        """accelerators with a port, free or not, by server"""
        self._clear = Clear(self.state)
        self.held: dict[str, Placement] = {}
        """by job"""
        self.racks: list[Sequence[int]] = self.state.together
        """servers that one job may use together"""

    def damaged(self, failed: Iterable[str]) -> Cluster:
        """The cluster with these parts down beside those that its file says are."""
        failures = [failure for name in failed for failure in failures_of(self._healthy, name)]
        return edited(self._healthy, health=worsened(self._healthy.health, failures))

    def rebuild(self, cluster: Cluster, places: Mapping[str, Place]) -> list[str]:
        """Begin anew with this health and these jobs; those that stand on a failed part are named and left out."""
        self.cluster, self.state = cluster, TimedState(cluster)
        self.working = [len(cluster.lit_slots(server)) for server in range(cluster.fabric.num_servers)]
        self._clear = Clear(self.state)
        before, self.held = self.held, {}
        broken = []
        for job, place in places.items():
            placement = before[job] if job in before else self._placement(place)
            if self.state.broken(placement) or self._lost_switch(place):
                broken.append(job)
                continue
            self.take(job, self.state.working(placement))
        return broken

    def able(self, kind: JobClass) -> Sequence[int]:
        """Accelerators that a job of this kind could take of each server if all others left it."""
        return self._clear.able(kind, self.working)

    def free(self, kind: JobClass) -> Sequence[int]:
        """Free accelerators with a port by server; in a pool those alone that find memory too."""
        if self.state.parts is None:
            return self.state.lit
        rooms = [[row.part * parts for parts in self.state.room(row)] for row in kind.leanest]
        return [max(most) for most in zip(*rooms, strict=True)]

    def _placement(self, place: Place) -> Placement:
        if self.state.parts is not None:
            return held_in_pool(self.state, place)
        bare = Placement(place.row, place.devices, place.devices)
        return bare if place.wiring is NO_WIRING else beams_of(self.state, place.circuits, bare)

    def _lost_switch(self, place: Place) -> bool:
        """Whether circuits of a job go through a failed optical switch."""
        failed = self.cluster.health.failed_switches
        if not failed or not place.wiring.configurations:
            return False
        used = {name for held in place.circuits for circuit in held.circuits for name in circuit.fibers}
        if isinstance(self.cluster.fabric, OcsRail):
            ends = [(wire.source, wire.mask) for _, wires in place.wiring.configurations for wire in wires]
            rails = {(place.devices[rank][1], mask) for rank, mask in ends}
            return any(rail == r and mask >> n & 1 for rail, mask in rails for r, n in self.cluster.failed_switches)
        return not used.isdisjoint(failed)

    def find(
        self,
        kind_name: str,
        kind: JobClass,
        barred: frozenset[int],
        deadline_s: float,
        racks: Sequence[int] | None = None,
    ) -> Found:
        """A place for a job of this kind, taken; `deadline_s` is on the clock of time.perf_counter. `racks`: those that
        are looked at, of those with room; all by default."""
        near = self._roomy(kind, range(len(self.racks)) if racks is None else racks)
        if not near:
            return Found()
        search = _Search(barred, deadline_s)
        self.state.together = near
        self.state.deadline_s, ran_out = deadline_s, False
        self.state.shut = barred
        try:
            placement = self.state.place(kind, search)
        except OutOfTimeError:
            placement, ran_out = None, True
        self.state.deadline_s, self.state.together, self.state.shut = inf, self.racks, NOBODY
        if placement is None:
            return Found(ran_out=ran_out or search.ran_out)
        return self.wired(kind_name, placement)

    def _roomy(self, kind: JobClass, racks: Iterable[int]) -> list[Sequence[int]]:
        """Racks on which as many accelerators are free as the smallest row takes."""
        free = self.state.any if kind.held == 1 else self.state.lit
        return [self.racks[rack] for rack in racks if sum(map(free.__getitem__, self.racks[rack])) >= kind.held]

    def wired(self, kind_name: str, placement: Placement) -> Found:
        """A placement that is taken, with its circuits; given back where these cannot be named."""
        if self.state.parts is not None:
            return Found(*(found_in_pool(self.state, kind_name, placement) or ()))
        wired = self.wirer.wire(self.state, placement)
        if wired is None:
            self.state.release(placement)
            return Found()
        return Found(placement, Place(kind_name, placement.row, *wired))

    def again(self, kind_name: str, row: Option, servers: Sequence[int]) -> Found:
        """The same configuration with its blocks on these servers, as many on each, taken."""
        parts: dict[int, int] = {}
        for server in servers:
            parts[server] = parts.get(server, 0) + 1
        blocks = sorted((server, ranks // row.shape.part) for server, ranks in parts.items())
        room = self.state.room(row)
        if row.needs_rails or any(room[server] < count or not count for server, count in blocks):
            return Found()
        placement = self.state.realize(row, blocks)
        if placement is None:
            return Found()
        self.state.take(placement)
        return self.wired(kind_name, placement)

    def take(self, job: str, placement: Placement) -> None:
        """A job takes a placement that is free."""
        self.state.take(placement)
        self.held[job] = placement

    def release(self, job: str) -> None:
        """A job gives back what it holds."""
        self.state.release(self.held.pop(job))
