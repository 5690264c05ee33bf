"""Free accelerators and circuits of a controller: jobs are placed by number, in time, beside barred servers."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from planner.fabrics import plugin_of
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.lit import NOTHING_LIT, Lit
from planner.fabrics.placement import Placement
from planner.fabrics.search import Blocks, OutOfTimeError, Search
from planner.heuristics.strategies import tightest
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, RackCircuit
from planner.placement.placement import Place
from planner.whatif.failures import Failure, damaged_cluster, parse_failure


def failures_of(cluster: Cluster, name: str) -> list[Failure]:
    """Failures of the part or the whole server of this name; InputError where it names neither."""
    fabric = cluster.fabric
    try:
        server = fabric.parse_server(name)
    except ValueError:
        return [parse_failure(cluster, name)]
    return [parse_failure(cluster, fabric.device_name(server, slot)) for slot in range(fabric.devices_per_server)]


@dataclass
class _BestFit:
    """Best fit that leaves some servers alone and ends in time: a strategy."""

    barred: frozenset[int]
    deadline_s: float
    ran_out: bool = False

    def __call__(self, room: Sequence[int], servers: Sequence[int], parts: int, whole: int) -> Iterable[Blocks]:
        if sum(map(room.__getitem__, servers)) < parts:
            return ()
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
        self._namer = plugin_of(cluster.fabric).circuit_namer()
        self.cluster = cluster
        self.state = FreeState.empty(cluster)
        self.working = [len(cluster.lit_slots(server)) for server in range(cluster.fabric.num_servers)]
        """accelerators with a port, free or not, by server"""
        self.held: dict[str, Placement] = {}
        """by job"""
        self.racks = self.state.together
        """servers that one job may use together"""

    def damaged(self, failed: Collection[str]) -> Cluster:
        """The cluster with these parts down beside those that its file says are."""
        if not failed:
            return self._healthy
        failures = [failure for name in failed for failure in failures_of(self._healthy, name)]
        return damaged_cluster(self._healthy, failures)

    def rebuild(self, cluster: Cluster, places: Mapping[str, Place]) -> list[str]:
        """Begin anew with this health and these jobs; those that stand on a failed part are named and left out."""
        self.cluster, self.state = cluster, FreeState.empty(cluster)
        self.working = [len(cluster.lit_slots(server)) for server in range(cluster.fabric.num_servers)]
        before, self.held = self.held, {}
        broken = []
        for job, place in places.items():
            placement = before[job] if job in before else self._placement(place)
            if self.state.broken(placement):
                broken.append(job)
                continue
            self.take(job, self.state.working(placement))
        return broken

    def able(self, kind: JobClass) -> Sequence[int]:
        """Accelerators that a job of this kind could take of each server if all others left it."""
        return self.state.able(kind, self.working)

    def _placement(self, place: Place) -> Placement:
        return self._namer.placement(self.state, place.row, place.devices, place.wiring, place.circuits, place.upper)

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
        strategy, ran_out = _BestFit(barred, deadline_s), False
        try:
            placement = self.state.place(kind, Search(strategy, among=near, barred=barred, deadline_s=deadline_s))
        except OutOfTimeError:
            placement, ran_out = None, True
        if placement is None:
            return Found(ran_out=ran_out or strategy.ran_out)
        return self.named(kind_name, placement)

    def _roomy(self, kind: JobClass, racks: Iterable[int]) -> list[Sequence[int]]:
        """Racks on which as many accelerators are free as some row takes of one."""
        free, least = self.state.any if kind.held == 1 else self.state.lit, kind.least_of_a_rack
        return [self.racks[rack] for rack in racks if sum(map(free.__getitem__, self.racks[rack])) >= least]

    def named(self, kind_name: str, placement: Placement) -> Found:
        """A placement that is taken, with its circuits; given back where these cannot be named."""
        named = self._namer.name(self.state, placement)
        if named is None:
            return Found()
        exact, wiring = named
        upper = () if exact.links is None else exact.links.circuits
        return Found(exact, Place(kind_name, exact.row, exact.devices, wiring, upper))

    def first_in_rack(self, row: Option, rack: int, barred: frozenset[int], deadline_s: float) -> Placement | None:
        """Where a row that lies in one rack is first found in this one; not taken. OutOfTimeError after
        `deadline_s`."""
        strategy, rows = _BestFit(barred, deadline_s), [(row.shape, row)]
        search = Search(strategy, among=[self.racks[rack]], barred=barred, deadline_s=deadline_s)
        found = self.state.first_that_fits(rows, search, lambda row, own: self.state.realize(row, own, deadline_s))
        if found is None and strategy.ran_out:
            raise OutOfTimeError
        return found

    def on(
        self,
        kind_name: str,
        row: Option,
        devices: Sequence[Device],
        lit: Lit = NOTHING_LIT,
        upper: Sequence[RackCircuit] = (),
    ) -> Found:
        """A configuration with rank i on devices[i], which are free, over circuits that are free; those that are `lit`,
        and those between racks, `upper`, stay. Not taken."""
        assigned = self.state.assign_beside(row.options, row.number, devices, lit, upper)
        return Found() if assigned is None else self._given_back(kind_name, row, devices, assigned)

    def within(self, kind_name: str, row: Option, devices: Sequence[Device], lit: Lit) -> Found:
        """The same in one rack over circuits alone that are `lit`."""
        assigned = self.state.assign_within(row.options, row.number, devices, lit)
        return Found() if assigned is None else self._given_back(kind_name, row, devices, assigned)

    def _given_back(self, kind_name: str, row: Option, devices: Sequence[Device], assigned: Assignment) -> Found:
        """What was taken by name, free again."""
        self.state.release_named(assigned)
        wiring = plugin_of(self.cluster.fabric).wiring.placed(assigned, devices, self.cluster.fabric)
        place = Place(kind_name, row, tuple(devices), self._namer.one(wiring), tuple(assigned.upper))
        return Found(self._placement(place), place)

    def again(self, kind_name: str, row: Option, servers: Sequence[int]) -> Found:
        """The same configuration with its blocks on these servers, as many on each, taken."""
        parts: dict[int, int] = {}
        for server in servers:
            parts[server] = parts.get(server, 0) + 1
        blocks = sorted((server, ranks // row.shape.part) for server, ranks in parts.items())
        room = self.state.room(row.shape)
        if row.shape.chooses_servers or any(room[server] < count or not count for server, count in blocks):
            return Found()
        placement = self.state.realize(row, blocks)
        if placement is None:
            return Found()
        self.state.take(placement)
        return self.named(kind_name, placement)

    def take(self, job: str, placement: Placement) -> None:
        """A job takes a placement that is free."""
        self.state.take(placement)
        self.held[job] = placement

    def release(self, job: str) -> None:
        """A job gives back what it holds."""
        self.state.release(self.held.pop(job))
