"""Free devices, slices, rails and light of a cluster while jobs come and go: the incremental board of a replay.

What is kept of the full model: which devices, slices and rails are free, and the light of every circuit, exactly.
Candidates and their speeds are expanded beforehand; names, plans and ranks within a slice are never built.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import chain
from operator import and_

from planner.fabrics.free_state import FreeState, runs
from planner.fabrics.lightpath.fast_fibers import Fibers, Spread, Spreads
from planner.fabrics.lightpath.fast_rwa import Beams, Router
from planner.fabrics.lightpath.routes import Device, Waveguide
from planner.fabrics.ocs_rail.rails import on_rails
from planner.fabrics.sipam.fast_pool import FreePoolParts, Switches
from planner.heuristics.greedy import MAX_FAILED
from planner.model.cluster import Cluster
from planner.placement.job_classes import JobClass, Option
from planner.placement.strategies import Blocks, Strategy


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one job runs."""

    row: Option
    devices: tuple[Device, ...]
    """of the ranks; in rank order where jobs hold light"""
    held: tuple[Device, ...]
    """the same, and what rounding adds to a slice"""
    beams: Beams | None = None
    """light, or parts of pooled racks"""
    switches: Switches = frozenset()
    """optical switches that it needs, as `Cluster.failed_switches` has them"""


class State:
    """One cluster; every method is exact for its health."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.board = FreeState.empty(cluster)
        self.router = Router(self.board.light) if self.board.light is not None else None
        self.parts = FreePoolParts(self.board.pool, cluster) if self.board.pool is not None else None
        self._wiring: Router | FreePoolParts | None = self.router or self.parts
        fabric = cluster.fabric
        servers = range(fabric.num_servers)
        self.per_server = fabric.devices_per_server
        self.together: list[Sequence[int]] = (
            [servers] if fabric.links_racks else [servers[i : i + fabric.servers] for i in servers[:: fabric.servers]]
        )
        """servers that one job may use together"""
        self.lit = [len(slots) for slots in self.board.slots.lit]
        """free devices with a port, by server"""
        self.any = [lit + len(dark) for lit, dark in zip(self.lit, self.board.slots.dark, strict=True)]
        """free devices, by server"""
        self.num_free = sum(self.any)
        slots = zip(self.board.slots.lit, self.board.slots.dark, strict=True)
        self.free = [sum(1 << slot for slot in (*lit, *dark)) for lit, dark in slots]
        """masks of the slots of free devices, by server"""
        self._ported = [sum(1 << slot for slot in cluster.lit_slots(server)) for server in servers]
        """masks of the slots whose port works, by server"""
        self.taken_hooks: list[Callable[[Sequence[Device], bool], None]] = []
        """told which devices are taken (True) or given back"""
        self.shut: Collection[int] = ()
        """servers that no job on rails may take now, where no strategy chooses servers"""
        self._dark, self._failed = cluster.dark_devices, cluster.failed_devices

    def place(
        self, kind: JobClass, strategy: Strategy, *, is_fixed: bool = True, of_loop: bool = False
    ) -> Placement | None:
        """The kind's most valuable row that finds a place, taken; None where none does.

        `is_fixed`: whether the strategy gives the same ways whenever it is asked; `of_loop`: only rows of that loop.
        """
        if kind.held > self.num_free:
            return None
        if self.router is not None and self.router.fibers is not None:
            return self._place_on_fibers(kind, strategy, self.router.fibers, is_fixed=is_fixed)
        if self.parts is not None and not any(any(self._ways(row, strategy)) for row in kind.leanest):
            return None
        hopeless: set[object] = set()
        num_failed = 0
        for row in kind.of_loop if of_loop else kind.rows:
            if row.room_key in hopeless:
                continue
            found_any = False
            for blocks in self._ways(row, strategy):
                found_any = True
                if len(blocks) > 1 and (num_failed == MAX_FAILED or not self.board.may_span(row.shape, blocks)):
                    continue
                placement = self.realize(row, blocks)
                if placement is not None:
                    return self._taken(placement)
                num_failed += 1
            if not found_any:
                hopeless.add(row.room_key)
        return None

    def _place_on_fibers(self, kind: JobClass, strategy: Strategy, lit: Fibers, *, is_fixed: bool) -> Placement | None:
        """The same where light depends on servers alone: rows with one key find their ways once."""
        ways: dict[int, Spreads] = {}
        num_failed = 0
        following = [(numbers[0], 0, key) for key, numbers in enumerate(kind.numbers)]
        while following:
            number, rank, key = heappop(following)
            row = kind.rows[number]
            if key not in ways or (ways[key].exist and not is_fixed):
                found = self._ways(row, strategy)
                ways[key] = Spreads(found if is_fixed else list(found), lit, kind.boundaries[key])
            for blocks, spread in ways[key].open_to(rank):
                if len(blocks) > 1 and num_failed == MAX_FAILED:
                    continue
                placement = self.realize(row, blocks, spread)
                if placement is not None:
                    return self._taken(placement)
                num_failed += 1
                if num_failed == MAX_FAILED and is_fixed:
                    return self._place_inside(kind, strategy)
            later = ways[key].open_after(rank) if is_fixed or not ways[key].exist else rank + 1
            if later < len(kind.numbers[key]):
                heappush(following, (kind.numbers[key][later], later, key))
        return None

    def _place_inside(self, kind: JobClass, strategy: Strategy) -> Placement | None:
        """The kind's most valuable row that a strategy puts into one server."""
        for row in kind.first_rows:
            for blocks in self._ways(row, strategy):
                placement = self.realize(row, blocks) if len(blocks) == 1 else None
                if placement is not None:
                    return self._taken(placement)
        return None

    def _taken(self, placement: Placement) -> Placement:
        self.take(placement)
        return placement

    def take(self, placement: Placement) -> None:
        """Mark a placement as taken, all of which is free."""
        self._count(placement.held, -1)
        self.board.slots.take(placement.held)
        if self.board.cuts is not None:
            self.board.cuts.take(placement.held)
        if placement.beams is not None and self._wiring is not None:
            self._wiring.take(placement.beams)
        for hook in self.taken_hooks:
            hook(placement.held, True)

    def release(self, placement: Placement) -> None:
        """Give back what works of a placement."""
        held: Sequence[Device] = placement.held
        if self._failed:
            held = [device for device in held if device not in self._failed]
        self._count(held, 1)
        self.board.slots.release(held)
        if self.board.cuts is not None:
            self.board.cuts.release(device for device in held if device not in self._dark)
        if placement.beams is not None and self._wiring is not None:
            self._wiring.release(placement.beams)
        for hook in self.taken_hooks:
            hook(held, False)

    def working(self, placement: Placement) -> Placement:
        """A placement without what has failed of a slice beyond its ranks."""
        if self._failed.isdisjoint(placement.held):
            return placement
        return replace(placement, held=tuple(device for device in placement.held if device not in self._failed))

    @property
    def taken(self) -> Mapping[Waveguide, int]:
        """Masks of what jobs hold beside devices: wavelengths by fiber, or numbers by part of a pooled rack."""
        return self._wiring.taken if self._wiring is not None else {}

    def broken(self, placement: Placement) -> bool:
        """Whether a job stands on something that has failed."""
        cluster = self.cluster
        if any(device in self._failed for device in placement.devices):
            return True
        if len(placement.devices) > 1 and any(device in self._dark for device in placement.devices):
            return True
        if not cluster.failed_switches.isdisjoint(placement.switches):
            return True
        if placement.beams is None:
            return False
        if self.parts is not None:
            return self.parts.broken(placement.beams)
        devices, dark = placement.devices, cluster.failed_fibers
        if dark and any(guide in dark for guide, _ in placement.beams.guides):
            return True
        lasers, receivers = cluster.failed_lasers, cluster.failed_receivers
        return any(
            lasers.get(devices[rank], 0) & sent or receivers.get(devices[rank], 0) & received
            for rank, sent, received in placement.beams.ends
        )

    def _count(self, devices: Iterable[Device], sign: int) -> None:
        dark, free, any_, lit = self._dark, self.free, self.any, self.lit
        number = 0
        for device in devices:
            server, slot = device
            free[server] ^= 1 << slot
            any_[server] += sign
            number += sign
            if not dark or device not in dark:
                lit[server] += sign
        self.num_free += number

    def _ways(self, row: Option, strategy: Strategy) -> Iterable[Blocks]:
        if row.needs_rails:
            assert self.board.rails is not None
            pairs = enumerate(map(and_, self.free, self._ported))
            return on_rails(self.board.rails, row.shape, [0 if s in self.shut else slots for s, slots in pairs])
        room, whole = self.room(row), 1 if row.shape.is_even else self.per_server // row.part
        racks = self._racks(row, room)
        return chain.from_iterable(strategy(room, servers, row.num_parts, whole) for servers in racks)

    def _racks(self, row: Option, room: Sequence[int]) -> Sequence[Sequence[int]]:
        """Servers that the job may use together, to be looked at in turn."""
        return self.together

    def room(self, row: Option) -> Sequence[int]:
        """Parts of a row that fit on each server."""
        shape, cuts = row.shape, self.board.cuts
        if cuts is not None and shape.cut:
            return cuts.parts(shape.cut, shape.slices_together)
        free = self.any if row.is_single else self.lit
        if self.parts is not None:
            return self.parts.room(row, free)
        return free if row.part == 1 else [count // row.part for count in free]

    def realize(self, row: Option, blocks: Blocks, spread: Spread | None = None) -> Placement | None:
        """Devices and light for so many parts on each server; None where light is short. Nothing is taken."""
        if row.needs_rails:
            return self._on_rails(row, blocks)
        if row.shape.cut:
            return self._on_slices(row, blocks)
        if self.parts is not None:
            return self._in_pool(row, blocks, self.parts)
        if self.router is None:
            return self._placed(row, self._first(row, [s for s, count in blocks for _ in range(count)]))
        if self.router.fibers is not None:
            found = self.router.uniform(row, spread or self.router.fibers.spread(blocks))
            return None if found is None else self._placed(row, self._first(row, found[0]), found[1])
        return self._realize_on_board(row, blocks)

    def _realize_on_board(self, row: Option, blocks: Blocks) -> Placement | None:
        """The planner's own realisation, given back: where slots matter, light has failed or crosses servers."""
        assert self.router is not None
        assignment = self.board.realize(row.options, row.number, blocks)
        if assignment is None:
            return None
        self.board.release(assignment)
        devices = [self.cluster.fabric.parse_device(name) for name in assignment.devices]
        return self._placed(row, devices, self.router.beams(row.shape, assignment.circuits))

    def _placed(self, row: Option, devices: Sequence[Device], beams: Beams | None = None) -> Placement:
        return Placement(row, tuple(devices), tuple(devices), beams)

    def _first(self, row: Option, layout: Sequence[int]) -> list[Device]:
        """The first free devices of the server of each block."""
        used: dict[int, int] = {}
        devices: list[Device] = []
        for server in layout:
            start = used.get(server, 0)
            slots = self.board.slots.free(server, single=True) if row.is_single else self.board.slots.lit[server]
            devices += [(server, slot) for slot in slots[start : start + row.shape.block]]
            used[server] = start + row.shape.block
        return devices

    def _in_pool(self, row: Option, blocks: Blocks, parts: FreePoolParts) -> Placement | None:
        """Blocks in runs, server after server, as `planner.fabrics.free_state` lays them."""
        devices = tuple(self._first(row, runs(blocks)))
        found = parts.connect(row, devices)
        return None if found is None else Placement(row, devices, devices, *found)

    def _on_rails(self, row: Option, blocks: Blocks) -> Placement | None:
        rails = self.board.rails
        assert rails is not None
        lit, block = self.board.slots.lit, row.shape.block
        common = rails.common(row.shape, [lit[server] for server, _ in blocks])[:block]
        if len(common) < block:
            return None
        devices = tuple((server, rail) for server, _ in blocks for rail in common)
        switches = frozenset((rail, i) for rail in common for i in rails.switches[rail][: row.shape.num_ports])
        return Placement(row, devices, devices, switches=switches)

    def _on_slices(self, row: Option, blocks: Blocks) -> Placement:
        cuts, cut = self.board.cuts, row.shape.cut
        assert cuts is not None
        devices: list[Device] = []
        switches: Switches = frozenset()
        for server, count in blocks:
            for each in cuts.disjoint(server, cut)[: count * row.shape.slices_together]:
                devices += [(server, slot) for slot in each.slots]
                switches |= cuts.switches(server, cut, each)
        return Placement(row, tuple(devices), tuple(devices), switches=switches)
