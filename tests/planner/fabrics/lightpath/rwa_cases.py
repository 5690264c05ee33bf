"""Shared by the tests of `rwa`."""

from typing import Any

from planner.candidates.expand import expand
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.rwa import Spectrum
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Circuit, HeldCircuits
from tests.costmodel.pricing.score_cases import LIGHTPATH
from tests.planner.small_racks import rack, training


def light_of(most_lit: dict[tuple[int, int], int] | None = None, **changes: Any) -> Spectrum:
    health = changes.pop("health", {})
    fabric = LIGHTPATH | {"wavelengths_per_fiber": 4} | changes
    return Spectrum(Cluster.model_validate({"device": "h100-sxm", "fabric": fabric, "health": health}), most_lit)


def pair_of(width: int) -> Demand:
    """Two ranks joined by a ring."""
    options = expand(Instance.parse(rack(training("x", 2), wavelengths_per_tile=8)), prune=False).options[0]
    for shape in options.shapes:
        plan = shape.plans[0]
        if shape.tensor == 2 and plan.kind == "ring" and plan.wavelengths == (width,):
            return shape
    raise LookupError(width)


def lone_circuit(source: str, destination: str, wavelengths: tuple[int, ...], *fibers: str) -> HeldCircuits:
    circuit = Circuit(source=source, destination=destination, wavelengths=wavelengths, fibers=fibers)
    return HeldCircuits(dimension="tensor", circuits=(circuit,))
