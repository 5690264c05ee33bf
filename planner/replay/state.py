"""Free devices, slices, rails and light of a cluster while jobs come and go: the incremental board of a replay.

What is kept of the full model: which devices, slices and rails are free, and the light of every circuit, exactly.
Candidates and their speeds are expanded beforehand; names, plans and ranks within a slice are never built.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from costmodel.fabrics import SlicedFabric
from costmodel.fabrics.sliced import Held
from planner.cluster import Cluster
from planner.greedy import MAX_FAILED, on_rails
from planner.replay.beams import Beams, Router
from planner.replay.kinds import Kind, Row
from planner.replay.strategies import Blocks, Strategy
from planner.routing import Board
from planner.ways import Device


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one job runs."""

    row: Row
    devices: tuple[Device, ...]
    """of the ranks; in rank order where jobs hold light"""
    held: tuple[Device, ...]
    """the same, and what rounding adds to a slice"""
    beams: Beams | None = None


class State:
    """One cluster; every method is exact for its health."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.board = Board.empty(cluster)
        self.router = Router(self.board, self.board.light) if self.board.light is not None else None
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
        self.taken_hooks: list[Callable[[Sequence[Device], bool], None]] = []
        """told which devices are taken (True) or given back"""
        self._dark, self._failed = cluster.dark_devices, cluster.failed_devices

    def place(self, kind: Kind, strategy: Strategy) -> Placement | None:
        """The kind's most valuable row that finds a place, taken; None where none does."""
        if kind.held > self.num_free:
            return None
        hopeless: set[object] = set()
        num_failed = 0
        for row in kind.rows:
            if row.key in hopeless:
                continue
            found_any = False
            for blocks in self._ways(row, strategy):
                found_any = True
                if len(blocks) > 1 and (num_failed == MAX_FAILED or not self._has_light(row, blocks)):
                    continue
                placement = self.realize(row, blocks)
                if placement is not None:
                    self.take(placement)
                    return placement
                num_failed += 1
            if not found_any:
                hopeless.add(row.key)
        return None

    def take(self, placement: Placement) -> None:
        """Mark a placement as taken, all of which is free."""
        self._count(placement.held, -1)
        self.board.slots.take(placement.held)
        if self.board.cuts is not None:
            self.board.cuts.take(placement.held)
        if placement.beams is not None and self.router is not None:
            self.router.take(placement.beams)
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
        if placement.beams is not None and self.router is not None:
            self.router.release(placement.beams)
        for hook in self.taken_hooks:
            hook(held, False)

    def working(self, placement: Placement) -> Placement:
        """A placement without what has failed of a slice beyond its ranks."""
        if self._failed.isdisjoint(placement.held):
            return placement
        return replace(placement, held=tuple(device for device in placement.held if device not in self._failed))

    def is_free(self, device: Device) -> bool:
        server, slot = device
        return slot in self.board.slots.lit[server] or slot in self.board.slots.dark[server]

    def broken(self, placement: Placement) -> bool:
        """Whether a job stands on something that has failed."""
        cluster = self.cluster
        if any(device in self._failed for device in placement.devices):
            return True
        if len(placement.devices) > 1 and any(device in self._dark for device in placement.devices):
            return True
        if placement.beams is None:
            return False
        devices, dark = placement.devices, cluster.failed_fibers
        if dark and any(guide in dark for guide, _ in placement.beams.guides):
            return True
        lasers, receivers = cluster.failed_lasers, cluster.failed_receivers
        return any(
            lasers.get(devices[rank], 0) & sent or receivers.get(devices[rank], 0) & received
            for rank, sent, received in placement.beams.ends
        )

    def _count(self, devices: Iterable[Device], sign: int) -> None:
        dark = self._dark
        for device in devices:
            self.any[device[0]] += sign
            self.num_free += sign
            if not dark or device not in dark:
                self.lit[device[0]] += sign

    def _ways(self, row: Row, strategy: Strategy) -> Iterable[Blocks]:
        if row.needs_rails:
            yield from on_rails(self.board, row.shape)
            return
        room, parts = self.room(row), row.shape.num_parts
        for servers in self.together:
            yield from strategy(room, servers, parts, self.per_server // row.shape.part)

    def room(self, row: Row) -> Sequence[int]:
        """Parts of a row that fit on each server."""
        shape, cuts = row.shape, self.board.cuts
        if cuts is not None and shape.cut:
            each = shape.slices_together
            return [len(cuts.disjoint(server, shape.cut)) // each for server in range(len(self.lit))]
        free = self.any if row.is_single else self.lit
        return free if shape.part == 1 else [count // shape.part for count in free]

    def realize(self, row: Row, blocks: Blocks) -> Placement | None:
        """Devices and light for so many parts on each server; None where light is short. Nothing is taken."""
        if row.needs_rails:
            return self._on_rails(row, blocks)
        if row.shape.cut:
            return self._on_slices(row, blocks)
        if self.router is None:
            return self._placed(row, self._first(row, [s for s, count in blocks for _ in range(count)]))
        if self.router.is_uniform:
            found = self.router.uniform(row, blocks)
            return None if found is None else self._placed(row, self._first(row, found[0]), found[1])
        return self._realize_on_board(row, blocks)

    def _realize_on_board(self, row: Row, blocks: Blocks) -> Placement | None:
        """The planner's own realisation, given back: where slots matter, light has failed or crosses servers."""
        assert self.router is not None
        assignment = self.board.realize(row.options, row.number, blocks)
        if assignment is None:
            return None
        self.board.release(assignment)
        devices = [self.cluster.fabric.parse_device(name) for name in assignment.devices]
        return self._placed(row, devices, self.router.beams(row.shape, assignment.circuits))

    def _has_light(self, row: Row, blocks: Blocks) -> bool:
        return self.router is None or not row.shape.has_light or self.router.has_light(row, blocks)

    def _placed(self, row: Row, devices: Sequence[Device], beams: Beams | None = None) -> Placement:
        return Placement(row, tuple(devices), tuple(devices), beams)

    def _first(self, row: Row, layout: Sequence[int]) -> list[Device]:
        """The first free devices of the server of each block."""
        used: dict[int, int] = {}
        devices: list[Device] = []
        for server in layout:
            start = used.get(server, 0)
            slots = self.board.slots.free(server, single=True) if row.is_single else self.board.slots.lit[server]
            devices += [(server, slot) for slot in slots[start : start + row.shape.block]]
            used[server] = start + row.shape.block
        return devices

    def _on_rails(self, row: Row, blocks: Blocks) -> Placement | None:
        assert self.board.rails is not None
        lit = self.board.slots.lit
        rails = self.board.rails.common(row.shape, [lit[server] for server, _ in blocks])[: row.shape.block]
        if len(rails) < row.shape.block:
            return None
        return self._placed(row, [(server, rail) for server, _ in blocks for rail in rails])

    def _on_slices(self, row: Row, blocks: Blocks) -> Placement:
        assert self.board.cuts is not None
        assert isinstance(self.cluster.fabric, SlicedFabric)
        held: list[Held] = []
        for server, count in blocks:
            free = self.board.cuts.disjoint(server, row.shape.cut)[: count * row.shape.slices_together]
            held += [(server, each.slots) for each in free]
        return self._placed(row, [(server, slot) for server, slots in held for slot in slots])
