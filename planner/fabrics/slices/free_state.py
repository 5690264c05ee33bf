"""Free devices as slices of fixed extent: a job takes slices that its servers have free at once."""

from collections.abc import Sequence

from costmodel.fabrics.sliced import Held
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions
from planner.fabrics.slices.free_slices import FreeSlices, as_before, first_fit, slice_circuits
from planner.model.cluster import Cluster
from planner.model.job import Resident
from planner.model.plan import Assignment


class SlicedFreeState(FreeState):
    """Ranks that exchange messages lie on slices; others on any free devices."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.cuts = FreeSlices(cluster)

    def _take(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._take(assignment, devices)
        self.cuts.take(devices)

    def _release(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._release(assignment, devices)
        self.cuts.release(devices)

    def room(self, demand: Demand) -> Sequence[int]:
        """Of blocks on slices, as many as first fit finds."""
        return self.cuts.parts(demand.cut, demand.slices_together) if demand.cut else super().room(demand)

    def most_blocks(self, demand: Demand) -> int:
        if demand.is_even or not demand.cut:
            return super().most_blocks(demand)
        return len(first_fit(self.cuts.fabric.slices(demand.cut), -1)) // demand.slices_together

    def realize(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        demand, held = options.shapes[row], list[Held]()
        if not demand.cut:
            return super().realize(options, row, blocks, layout)
        for server, count in blocks:
            free = self.cuts.disjoint(server, demand.cut)[: count * demand.slices_together]
            if len(free) < count * demand.slices_together:
                return None
            held += [(server, each.slots) for each in free]
        return self.realize_on_slices(options, row, held)

    def realize_on_slices(self, options: JobOptions, row: int, held: Sequence[Held]) -> Assignment:
        """Place a candidate on these slices, which are free, and take it; a resident keeps its ranks where it can."""
        fabric, plans = self.cuts.fabric, options.candidates.row_plans(row)
        if isinstance(options.job, Resident) and row == options.current and options.shapes[row].slices_together == 1:
            now = fabric.held(plans, [fabric.parse_device(name) for name in options.job.devices])
            held = as_before(held, now or ())
        return self._placed(options, row, fabric.layout(plans, held), slice_circuits(fabric, plans, held))
