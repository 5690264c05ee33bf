"""How many parts of a job fit on each server with pooled memory: counted again only where servers have changed."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Self

from planner.fabrics.demand import Demand
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.search import Blocks, Strategy

MOST_KINDS = 1_024
"""classes of jobs, or kinds of parts, of which something is remembered"""


class AskedPart(NamedTuple):
    """What a part of a job takes of its server."""

    devices: int
    units: int
    io: int
    is_single: bool
    """whether it may have devices without a port too"""

    @classmethod
    def of(cls, demand: Demand) -> Self:
        part = demand.part
        return cls(part, demand.held_units * part, demand.held_io * part, demand.is_single)


@lru_cache(maxsize=MOST_KINDS)
def needs_of(kind: JobClass, of_loop: bool) -> tuple[tuple[int, AskedPart], ...]:
    """Number of parts, and one of them, of the row of each block size that asks for the least memory; `of_loop`: of
    rows of the published loop."""
    leanest = kind.leanest_of_loop if of_loop else kind.leanest
    return tuple((row.shape.num_parts, AskedPart.of(row.shape)) for row in leanest)


@lru_cache(maxsize=MOST_KINDS)
def parts_of(rows: tuple[Option, ...]) -> tuple[tuple[Option, int, AskedPart], ...]:
    """Rows with the number of their parts in one rack, and one of them."""
    inside = ((row, row.shape.in_rack) for row in rows)
    return tuple((row, shape.num_parts, AskedPart.of(shape)) for row, shape in inside)


class ServerCounts(NamedTuple):
    """What is free by server."""

    lit: list[int]
    """devices with a port"""
    every: list[int]
    """devices"""
    units: list[int]
    ports: list[int]


@dataclass(slots=True)
class PartRoom:
    """Parts of one kind that fit."""

    by_server: list[int]
    by_rack: list[int]
    changes: list[int]
    """how often servers of each rack came to fit other numbers"""
    most: int = 0
    """in one rack"""
    seen: int = -1
    """changes of servers that it knows of; -1 for none"""
    refused: dict[tuple[Strategy, int, int], list[int]] = field(default_factory=dict)
    """`changes` of each rack at which a strategy had no way to spread so many parts over it, of which a server takes so
    many at most; -1 where it has one"""

    def spreads(self, racks: Sequence[Sequence[int]], strategy: Strategy, parts: int, most: int) -> Iterator[Blocks]:
        """Ways of a strategy that answers alike whenever it is asked, rack by rack; one that refused a rack is asked
        again where that has changed."""
        refused, changes, by_rack = self._refused(strategy, parts, most), self.changes, self.by_rack
        for rack, servers in enumerate(racks):
            now = changes[rack]
            if refused[rack] == now:
                continue
            refused[rack] = now
            if by_rack[rack] >= parts:
                for blocks in strategy(self.by_server, servers, parts, most):
                    refused[rack] = -1
                    yield blocks

    def is_refused(self, strategy: Strategy, parts: int, most: int) -> bool:
        """True if every rack is known to be refused."""
        return self._refused(strategy, parts, most) == self.changes

    def _refused(self, strategy: Strategy, parts: int, most: int) -> list[int]:
        key = strategy, parts, most
        found = self.refused.get(key)
        if found is None:
            if len(self.refused) >= MOST_KINDS:
                self.refused.clear()
            found = self.refused[key] = [-1] * len(self.by_rack)
        return found


class ServerRooms:
    """Parts of every kind that was asked for."""

    def __init__(self, counts: ServerCounts, per_rack: int) -> None:
        """`counts` are read whenever something is asked; `per_rack`: servers that one job may use together."""
        self.counts, self._per_rack = counts, per_rack
        self._num_servers = len(counts.every)
        self._changes: list[int] = []
        """the last servers that changed"""
        self._num_changes = 0
        """of all time"""
        self._rooms: dict[AskedPart, PartRoom] = {}

    def changed(self, servers: Collection[int]) -> None:
        """Something was taken or given back on these servers."""
        changes, most = self._changes, self._num_servers
        changes += servers
        self._num_changes += len(servers)
        if len(changes) > 2 * most:
            del changes[:-most]

    def of(self, part: AskedPart) -> PartRoom:
        """Parts of a kind that fit now; to look at until something changes."""
        room, now = self._rooms.get(part), self._num_changes
        if room is None:
            if len(self._rooms) >= MOST_KINDS:
                self._rooms.clear()
            num_racks = self._num_servers // self._per_rack
            room = PartRoom([0] * self._num_servers, [0] * num_racks, [0] * num_racks)
            self._rooms[part] = room
        if room.seen != now:
            behind = now - room.seen
            is_known = room.seen >= 0 and behind <= len(self._changes)
            servers = self._changes[-behind:] if is_known else range(self._num_servers)
            self._count(room, part, servers if behind == 1 else {*servers})
            room.seen = now
        return room

    def fit_any(self, needs: Iterable[tuple[int, AskedPart]]) -> bool:
        """True if for one of the needs so many parts fit in one rack."""
        return any(self.of(part).most >= parts for parts, part in needs)

    def _count(self, room: PartRoom, part: AskedPart, servers: Collection[int]) -> None:
        by_server, by_rack, changes = room.by_server, room.by_rack, room.changes
        per_rack, is_same, found = self._per_rack, True, parts_on(self.counts, part, servers)
        for number, server in enumerate(servers):
            if found[number] != by_server[server]:
                rack = server // per_rack
                by_rack[rack] += found[number] - by_server[server]
                changes[rack] += 1
                by_server[server], is_same = found[number], False
        if not is_same:
            room.most = max(by_rack)


def parts_on(counts: ServerCounts, part: AskedPart, servers: Iterable[int]) -> list[int]:
    """Parts of a kind that fit on each of these servers."""
    devices, asked, io, is_single = part
    free, units, ports = counts.every if is_single else counts.lit, counts.units, counts.ports
    if not asked:
        return [free[server] // devices for server in servers]
    found: list[int] = []
    for server in servers:
        fits, by_units, by_ports = free[server] // devices, units[server] // asked, ports[server] // io
        if by_units < fits:
            fits = by_units
        found.append(by_ports if by_ports < fits else fits)
    return found
