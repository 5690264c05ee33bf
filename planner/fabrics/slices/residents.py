"""Slices of jobs that run already: ranks on slices that the fabric has, each at its place, and circuits of these."""

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from costmodel.fabrics import FabricBase, SlicedFabric
from planner.fabrics.residents import ResidentRules, Running
from planner.fabrics.slices.free_slices import slice_circuits
from planner.model.plan import Circuit

if TYPE_CHECKING:
    from planner.model.job import Resident


class SlicedResidents(ResidentRules):
    """Of circuits there are those that the slices hold, and no others."""

    def check_circuits(self, running: Running) -> None:
        fabric, demand, resident = running.cluster.fabric, running.demand, running.resident
        assert isinstance(fabric, SlicedFabric)
        plans = running.candidates.row_plans(0)
        held = fabric.held(plans, running.devices) if demand.cut else []
        if held is None or demand.part % demand.block or (demand.cut and demand.part % prod(demand.cut)):
            raise ValueError(f"{running.where}.devices: these are no slices of {fabric.in_words(demand.cut)} by rank")
        asked = [(h.dimension, Counter(h.circuits)) for h in slice_circuits(fabric, plans, held)]
        if asked != [(h.dimension, Counter(h.circuits)) for h in resident.circuits]:
            raise ValueError(
                f"{running.where}.circuits: these are not the circuits of its slices; copy them from the plan that "
                "started it (`planner solve --plan-out`)"
            )


class TorusResidents(SlicedResidents):
    """Circuits go through the switches that join cubes."""

    def check_circuit(self, fabric: FabricBase, resident: "Resident", circuit: Circuit, where: str) -> None:
        """All circuits of a resident are compared with those of its slices."""
