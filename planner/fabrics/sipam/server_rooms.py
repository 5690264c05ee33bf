"""How many parts of a job fit on each server with pooled memory: counted again only where servers have changed."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

from planner.fabrics.demand import Demand
from planner.fabrics.job_class import JobClass, Option

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
def needs_of(kind: JobClass) -> tuple[tuple[int, AskedPart], ...]:
    """Number of parts, and one of them, of the row of each block size that asks for the least memory."""
    return tuple((row.shape.num_parts, AskedPart.of(row.shape)) for row in kind.leanest)


@lru_cache(maxsize=MOST_KINDS)
def parts_of(rows: tuple[Option, ...]) -> tuple[tuple[Option, int, AskedPart], ...]:
    """Rows with the number of their parts in one rack, and one of them."""
    inside = ((row, row.shape.in_rack) for row in rows)
    return tuple((row, shape.num_parts, AskedPart.of(shape)) for row, shape in inside)


@dataclass(slots=True)
class PartRoom:
    """Parts of one kind that fit."""

    by_server: list[int]
    by_rack: list[int]
    most: int
    """in one rack"""
    seen: int
    """changes that it knows of"""


class ServerRooms:
    """Parts of every kind that was asked for."""

    def __init__(
        self, lit: Sequence[int], every: Sequence[int], units: Sequence[int], ports: Sequence[int], per_rack: int
    ) -> None:
        """By server, read whenever something is asked: free devices with a port, all free ones, free units and ports.
        `per_rack`: servers that one job may use together."""
        self._lit, self._every, self._units, self._ports, self._per_rack = lit, every, units, ports, per_rack
        self._changes: list[int] = []
        """the last servers that changed"""
        self._num_changes = 0
        """of all time"""
        self._rooms: dict[AskedPart, PartRoom] = {}

    def changed(self, servers: Collection[int]) -> None:
        """Something was taken or given back on these servers."""
        changes, most = self._changes, len(self._lit)
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
            num_servers = len(self._lit)
            room = PartRoom([0] * num_servers, [0] * (num_servers // self._per_rack), 0, -1)
            self._rooms[part] = room
        if room.seen != now:
            behind = now - room.seen
            is_known = room.seen >= 0 and behind <= len(self._changes)
            self._count(room, part, set(self._changes[-behind:]) if is_known else range(len(self._lit)))
            room.seen = now
        return room

    def _count(self, room: PartRoom, part: AskedPart, servers: Iterable[int]) -> None:
        devices, asked, io, is_single = part
        free, units, ports = self._every if is_single else self._lit, self._units, self._ports
        by_server, by_rack, per_rack, is_same = room.by_server, room.by_rack, self._per_rack, True
        for server in servers:
            fits = free[server] // devices
            if asked and fits:
                fits = min(fits, units[server] // asked, ports[server] // io)
            if fits != by_server[server]:
                by_rack[server // per_rack] += fits - by_server[server]
                by_server[server], is_same = fits, False
        if not is_same:
            room.most = max(by_rack)
