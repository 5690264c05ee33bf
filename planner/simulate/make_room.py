"""Running jobs change places so that a job finds room: CP-SAT says which, the state whether their light is there."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice

from planner.cpsat.make_room import RoomProblem, Swap, make_room, make_room_by
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Placement
from planner.fabrics.rack_links import RackLinks
from planner.formulation.servers_by_rack import AskedOfRacks
from planner.simulate.runs import Run

MOST_SERVERS = 8
"""servers that are looked at together, those with the most free devices"""
MOST_RACKS = 8
"""racks of which parts of one job are given to some, those with the most free devices"""
MOST_WAYS = 3
"""of the job, different in how much of it lies together, and choices of racks"""
Guests = dict[tuple[int, int], list[Run]]
"""jobs by server and ranks"""


@dataclass(frozen=True)
class _Swapped:
    """Servers of one rack that are looked at together, jobs on them that may move among them, and those that do."""

    rack: int
    servers: Sequence[int]
    guests: Guests
    swap: Swap

    @property
    def num_moved(self) -> int:
        """Ranks that move."""
        return sum(ranks * number for (_, ranks, _), number in self.swap.moves.items())


def rescue(
    state: FreeState,
    kind: JobClass,
    runs: Iterable[Run],
    among: Iterable[Sequence[int]] | None = None,
    deadline_s: float | None = None,
) -> tuple[Placement, list[tuple[Run, Placement]]] | None:
    """A place for a job, and new ones for those that make room, all taken; None, and nothing changes, without any.

    Jobs move that lie in one server, on devices with a port, within their rack; together no more ranks than the job
    has. Where no rack makes room for all of it, several may for its parts. Where slots, slices or parts of a pool
    matter nothing moves. `among` gives the servers that are looked at together, all of each rack by default.
    `deadline_s`, on the clock of time.perf_counter, ends the search; without it, each model has a limit that does not
    depend on the machine.
    """
    if not state.servers_are_counts:
        return None
    racks, search = list(state.together if among is None else among), _Rescue(state, kind, list(runs), deadline_s)
    whole = _parts(state, [row for row in kind.rows if row.shape.racks == 1])
    for servers in racks:
        for row, part in whole:
            swapped = search.swapped(servers, row, part)
            found = None if swapped is None else _exchange(state, row, part, [swapped])
            if found is not None:
                return found
    return None if state.links is None else search.over_racks(racks, state.links)


@dataclass(frozen=True)
class _Rescue:
    """One search."""

    state: FreeState
    kind: JobClass
    runs: Sequence[Run]
    deadline_s: float | None

    @cached_property
    def by_server(self) -> dict[int, list[Run]]:
        """Jobs that lie in one server, on devices with a port."""
        dark, found = self.state.cluster.dark_devices, dict[int, list[Run]]()
        for run in self.runs:
            placement = run.placement
            if len(placement.by_server) == 1 and dark.isdisjoint(placement.held):
                found.setdefault(placement.held[0][0], []).append(run)
        return found

    def swapped(self, servers: Sequence[int], row: Option, part: int) -> _Swapped | None:
        """How jobs make room on some servers of a rack for what a row has in one, so many devices together."""
        state, most_moved = self.state, self.kind.held
        near = sorted(sorted(servers, key=lambda s: (-state.lit[s], s))[:MOST_SERVERS])
        if sum([state.lit[server] for server in near]) < row.shape.in_rack.num_ranks:
            return None
        guests = _guests(near, self.by_server)
        parts = row.shape.in_rack.num_ranks // part
        rack_of, numbers = state.cluster.fabric.rack_of, row.shape.in_rack.servers_by_rack
        by_rack = None if numbers is None else AskedOfRacks(numbers, tuple(map(rack_of, near)))
        asked = _room(state, near, guests), part, parts, 1 if row.shape.is_even else parts, most_moved, by_rack
        if self.deadline_s is None:
            swap = make_room(*asked)
        else:
            swap = make_room_by(self.deadline_s, *asked) if time.perf_counter() < self.deadline_s else None
        return None if swap is None else _Swapped(state.cluster.fabric.rack_of(near[0]), near, guests, swap)

    def over_racks(
        self, racks: Sequence[Sequence[int]], links: RackLinks
    ) -> tuple[Placement, list[tuple[Run, Placement]]] | None:
        """Parts in several racks, those in which the fewest ranks move."""
        state, rack_of = self.state, self.state.cluster.fabric.rack_of
        near = sorted(racks, key=lambda servers: -sum(map(state.lit.__getitem__, servers)))[:MOST_RACKS]

        def linked(row: Option) -> list[Sequence[int]]:
            return [servers for servers in near if links.fits(row.shape, [rack_of(servers[0])])]

        for row, part in _parts(state, [row for row in self.kind.over_racks if len(linked(row)) >= row.shape.racks]):
            able = [each for servers in linked(row) if (each := self.swapped(servers, row, part)) is not None]
            choices = [
                sorted(chosen, key=lambda each: each.rack)
                for chosen in combinations(able, row.shape.racks)
                if sum(each.num_moved for each in chosen) <= self.kind.held
                and links.fits(row.shape, sorted(each.rack for each in chosen))
            ]
            choices.sort(key=lambda chosen: sum(each.num_moved for each in chosen))
            for chosen in islice(choices, MOST_WAYS):
                found = _exchange(state, row, part, chosen)
                if found is not None:
                    return found
        return None


def _parts(state: FreeState, rows: Iterable[Option]) -> list[tuple[Option, int]]:
    """Rows that any servers may take, each with how many devices must lie together: all of a rack that one server
    holds, where no light is needed, or the row's own parts."""
    found: dict[tuple[int, int, int], Option] = {}
    for row in rows:
        shape = row.shape
        if not shape.chooses_servers:
            of_rack = shape.in_rack.num_ranks
            if of_rack <= state.per_server and not shape.is_even:
                found.setdefault((of_rack, shape.racks, shape.links), row)
            found.setdefault((shape.part, shape.racks, shape.links), row)
    return [(row, part) for (part, _, _), row in found.items()][:MOST_WAYS]


def _guests(servers: Sequence[int], by_server: Mapping[int, Sequence[Run]]) -> Guests:
    guests = Guests()
    for server in servers:
        for run in by_server.get(server, ()):
            guests.setdefault((server, len(run.placement.held)), []).append(run)
    return guests


def _room(state: FreeState, servers: Sequence[int], guests: Guests) -> RoomProblem:
    place = {server: number for number, server in enumerate(servers)}
    return RoomProblem(
        tuple(state.lit[server] for server in servers),
        tuple(sorted((place[server], ranks, len(jobs)) for (server, ranks), jobs in guests.items())),
    )


def _exchange(
    state: FreeState, row: Option, part: int, racks: Sequence[_Swapped]
) -> tuple[Placement, list[tuple[Run, Placement]]] | None:
    """Take what swaps say; None, and all is as before, where light or links are short."""
    own, leaving, blocks = part // row.shape.part, list[tuple[Run, int]](), list[tuple[int, int]]()
    for rack in racks:
        staying = {key: list(jobs) for key, jobs in rack.guests.items()}
        for (origin, ranks, other), number in sorted(rack.swap.moves.items()):
            jobs = staying[rack.servers[origin], ranks]
            leaving += [(jobs.pop(0), rack.servers[other]) for _ in range(number)]
        blocks += [(rack.servers[i], own * count) for i, count in enumerate(rack.swap.parts) if count]
    for run, _ in leaving:
        state.release(run.placement)
    wanted = [(row, blocks)]
    wanted += [(run.placement.row, [(server, run.placement.row.shape.num_parts)]) for run, server in leaving]
    taken: list[Placement] = []
    for each, asked in wanted:
        placement = state.realize(each, asked)
        if placement is None:
            for done in taken:
                state.release(done)
            for run, _ in leaving:
                state.take(run.placement)
            return None
        state.take(placement)
        taken.append(placement)
    return taken[0], [(run, placement) for (run, _), placement in zip(leaving, taken[1:], strict=True)]
