"""Free devices as slices of fixed extent: a job takes slices that its servers have free at once."""

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any, Self

from costmodel.fabrics.sliced import Held, Slice
from planner.fabrics.demand import Demand
from planner.fabrics.free_devices import Masks
from planner.fabrics.free_slots import Device, masks_by_server
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Owned, Placement, Switches
from planner.fabrics.problem import JobOptions
from planner.fabrics.search import Blocks, Search, require_time
from planner.fabrics.slices.added_slices import grown_on_slices
from planner.fabrics.slices.free_slices import FreeSlices, as_before, slice_circuits
from planner.fabrics.slices.slice_counts import slices_short
from planner.model.cluster import Cluster
from planner.model.job import Resident
from planner.model.plan import Assignment


class SlicedFreeState(FreeState):
    """Ranks that exchange messages lie on slices, with the optical switches that their wraps need; others on any free
    devices."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.slices = FreeSlices(cluster)

    def copy(self) -> Self:
        twin = super().copy()
        twin.slices = self.slices.copy()
        return twin

    def hold(self, devices: Sequence[Device], owned: Owned[Any] | None = None, masks: Masks | None = None) -> None:
        masks = masks_by_server(devices) if masks is None else masks
        super().hold(devices, owned, masks)
        self.slices.take(masks)

    def give_back(self, devices: Sequence[Device], owned: Owned[Any] | None = None, masks: Masks | None = None) -> None:
        masks = masks_by_server(devices) if masks is None else masks
        super().give_back(devices, owned, masks)
        self.slices.release(masks)

    @property
    def servers_are_counts(self) -> bool:
        return False

    def shortage(self, kind: JobClass) -> str | None:
        return (short := slices_short(self.slices, [row.shape.in_rack for row in kind.rows])) and f"it {short}"

    def room(self, demand: Demand) -> Sequence[int]:
        """Of blocks on slices, as many as first fit finds."""
        return self.slices.parts(demand.cut, demand.slices_together) if demand.cut else super().room(demand)

    def with_room(self, demand: Demand) -> tuple[Sequence[int], Sequence[Sequence[int]]]:
        if not demand.cut or demand.slices_together > 1:
            return super().with_room(demand)
        found, size, parts = self.slices.by_rack(demand.cut), self._num_together, demand.num_parts
        racks = [servers for servers in self.with_free(demand.num_ranks) if found[servers[0] // size] >= parts]
        return self.room(demand) if racks else (), racks

    def rows_to_try(self, kind: JobClass, search: Search) -> Iterable[Option]:
        """Those for which some rack has slices enough; all where a strategy draws lots for each."""
        for row in super().rows_to_try(kind, search):
            shape = row.shape.in_rack
            if not search.is_fixed or not shape.cut or shape.num_ranks <= self.slices.most_chips(shape.cut):
                yield row

    def most_blocks(self, demand: Demand) -> int:
        if demand.is_even or not demand.cut:
            return super().most_blocks(demand)
        return self.slices.most(demand.cut) // demand.slices_together

    def _first_slices(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> list[tuple[int, Slice]] | None:
        """Server and slice for so many blocks on each server, first fit; None where a server has too few."""
        found: list[tuple[int, Slice]] = []
        for server, count in blocks:
            free = self.slices.disjoint(server, demand.cut)[: count * demand.slices_together]
            if len(free) < count * demand.slices_together:
                return None
            found += [(server, each) for each in free]
        return found

    def realize_in_rack(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        cut = row.shape.cut
        if not cut:
            return super().realize_in_rack(row, blocks, deadline_s)
        require_time(deadline_s)
        found = self._first_slices(row.shape, blocks)
        if found is None:
            return None
        devices = tuple([(server, slot) for server, each in found for slot in each.slots])
        switches: Switches = frozenset().union(*(self.slices.switches(server, cut, each) for server, each in found))
        return Placement(row, devices, devices, switches=switches)

    def realize_chosen_in_rack(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        if not row.shape.cut:
            return super().realize_chosen_in_rack(row, devices)
        fabric, plans = self.slices.fabric, row.options.candidates.row_plans(row.number)
        slices = fabric.held(plans, devices)
        if slices is None:
            return None
        needed = (fabric.needed_switches(server, row.shape.cut, slots) for server, slots in slices)
        held = tuple((server, slot) for server, slots in slices for slot in slots)
        return Placement(row, held, held, switches=frozenset().union(*needed))

    def grown(
        self, row: Option, devices: Sequence[Device], barred: frozenset[int], deadline_s: float = inf
    ) -> Iterator[list[Device]]:
        if not row.shape.cut:
            yield from super().grown(row, devices, barred, deadline_s)
        elif self.dark.isdisjoint(devices):
            near = next(servers for servers in self.together if devices[0][0] in servers)
            own = {server for server, _ in devices}
            order = sorted((s for s in near if s not in barred), key=lambda s: (s not in own, self.lit[s], s))
            plans = row.options.candidates.row_plans(row.number)
            yield from grown_on_slices(self.slices, row.shape, plans, devices, order, deadline_s)

    def assign_on_in_rack(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        """None where a job that takes slices has none on these devices, or ranks lie otherwise there."""
        if not options.shapes[row].cut:
            return super().assign_on_in_rack(options, row, devices)
        held = self.slices.fabric.held(options.candidates.row_plans(row), devices)
        return None if held is None else self.assign_on_slices(options, row, held)

    def assign_in_rack(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        demand = options.shapes[row]
        if not demand.cut:
            return super().assign_in_rack(options, row, blocks, layout)
        found = self._first_slices(demand, blocks)
        return None if found is None else self.assign_on_slices(options, row, [(s, each.slots) for s, each in found])

    def assign_on_slices(self, options: JobOptions, row: int, held: Sequence[Held]) -> Assignment:
        """Place a candidate on these slices, which are free, and take it; a resident keeps its ranks where it can."""
        fabric, plans = self.slices.fabric, options.candidates.row_plans(row)
        if isinstance(options.job, Resident) and row == options.current and options.shapes[row].slices_together == 1:
            now = fabric.held(plans, [fabric.parse_device(name) for name in options.job.devices])
            held = as_before(held, now or ())
        circuits = slice_circuits(fabric, plans, held)
        return self._assigned(options, row, fabric.layout(plans, held), circuits=circuits)
