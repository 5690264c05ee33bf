"""Free devices and pooled memory of racks while jobs come and go."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from planner.fabrics.fast_state import Search, State, require_time
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import Blocks, runs
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.sipam.fast_pool import FreePoolParts
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.job_class import PoolOption
from planner.model.cluster import Cluster, Health
from planner.model.edit import edited
from planner.model.masks import numbers_of


class SipamState(State):
    """Jobs take units, ports of trays and uplinks beside their devices."""

    has_pool = True
    least_search_s = 0.05

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        assert isinstance(self.board, PoolFreeState)
        self.fabric = self.board.pool.fabric
        self.parts = FreePoolParts(self.board.pool, cluster)

    def place(self, kind: JobClass, search: Search) -> Placement | None:
        if kind.held > self.num_free or not any(any(self.ways(row, search)) for row in kind.leanest):
            return None
        return super().place(kind, search)

    def take(self, placement: Placement) -> None:
        super().take(placement)
        if placement.owned is not None:
            self.parts.take(placement.owned)

    def release(self, placement: Placement) -> None:
        super().release(placement)
        if placement.owned is not None:
            self.parts.release(placement.owned)

    @property
    def taken(self) -> Mapping[Any, int]:
        return self.parts.taken

    def has_lost(self, devices: Sequence[Device], owned: Owned[Any]) -> bool:
        return self.parts.broken(owned)

    def room(self, row: Option) -> Sequence[int]:
        assert isinstance(row, PoolOption)
        return self.parts.room(row, self.any if row.is_single else self.lit)

    def able(self, kind: JobClass, working: Sequence[int]) -> Sequence[int]:
        rows = [row for row in kind.leanest if isinstance(row, PoolOption)]
        rooms = [[row.part * parts for parts in self.parts.most(row, working)] for row in rows]
        return [max(most) for most in zip(*rooms, strict=True)]

    def free_for(self, kind: JobClass) -> Sequence[int]:
        rooms = [[row.part * parts for parts in self.room(row)] for row in kind.leanest]
        return [max(most) for most in zip(*rooms, strict=True)]

    def shortage(self, kind: JobClass) -> str | None:
        best: tuple[int, int, PoolOption] | None = None
        for row in kind.leanest:
            assert isinstance(row, PoolOption)
            room = self.room(row)
            most = max(row.part * sum(room[server] for server in servers) for servers in self.together)
            if most >= row.shape.num_ranks:
                return None
            if best is None or most > best[0]:
                best = most, max(room) * row.part, row
        if best is None:
            return None
        found, on_one, row = best
        units, ports = row.pool.units, row.pool.memory_io
        asked = f"each takes at least {units} memory unit{'s' * (units > 1)} over {ports} port{'s' * (ports > 1)}"
        return f"{asked}, and only {found} find{'s' * (found == 1)} that, at most {on_one} on one server"

    def realize(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        """Blocks in runs, server after server, as the planner lays them."""
        require_time(deadline_s)
        devices = tuple(self.first(row, runs(blocks)))
        return self.realize_on(row, devices, devices)

    def realize_on(self, row: Option, devices: Sequence[Device], held: Sequence[Device]) -> Placement | None:
        assert isinstance(row, PoolOption)
        found = self.parts.connect(row, devices)
        return None if found is None else Placement(row, tuple(devices), tuple(held), *found)

    def as_failed(self) -> Health:
        """Units, ports and uplinks have failed too that jobs hold."""
        health, name = super().as_failed(), self.parts.name
        held: dict[str, list[str]] = {"unit": [], "port": [], "uplink": []}
        for part, mask in self.taken.items():
            held[part[0]] += [name(part, number) for number in numbers_of(mask)]
        return edited(
            health,
            failed_memory_units=(*health.failed_memory_units, *held["unit"]),
            failed_tray_ports=(*health.failed_tray_ports, *held["port"]),
            failed_uplinks=(*health.failed_uplinks, *held["uplink"]),
        )

    def realize_chosen(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        return self.realize_on(row, devices, devices)

    @property
    def servers_are_counts(self) -> bool:
        return False
