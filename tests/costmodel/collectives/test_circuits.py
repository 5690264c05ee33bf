"""Circuits of a collective, rank by rank."""

import numpy as np
import pytest

from costmodel.collectives.plan import CollectivePlan
from planner.fabrics.demand import Demand
from tests.costmodel.collectives.family_cases import family
from tests.planner.fabrics.demand_cases import SMALL, shapes


def configurations_of(shape: Demand) -> list[tuple[str, set[tuple[int, int, int]]]]:
    """Held circuits of each dimension, group by group."""
    found: list[tuple[str, set[tuple[int, int, int]]]] = []
    degrees = {"tensor": shape.tensor, "pipeline": shape.pipeline, "data": shape.data}
    for name, plan in zip(degrees, shape.plans, strict=True):
        for circuits in plan.configurations():
            held = set()
            for fixed in np.ndindex(*(1 if axis == name else degree for axis, degree in degrees.items())):
                at = dict(zip(degrees, map(int, fixed), strict=True))
                for source, destination, width in circuits:
                    ends = []
                    for index in (source, destination):
                        here = at | {name: index}
                        ends.append((here["data"] * shape.pipeline + here["pipeline"]) * shape.tensor + here["tensor"])
                    held.add((ends[0], ends[1], width))
            found.append((name, held))
    return found


@pytest.mark.parametrize("degrees", SMALL)
def test_circuits_of_a_shape(degrees: tuple[int, int, int, int]) -> None:
    for shape in shapes(*degrees):
        found = [(name, set(circuits)) for name, circuits in shape.configurations]
        assert found == configurations_of(shape)
        assert all(len(set(circuits)) == len(circuits) for _, circuits in shape.configurations)


def test_narrow_rings_are_slower_and_named() -> None:
    narrow, wide = (
        CollectivePlan("all_reduce", "ring", 19, family(19)[0].limits, (), (1,), (width,)) for width in (4, 16)
    )
    assert [narrow.name, wide.name] == ["ring w4", "ring w16"]
    assert narrow.seconds_per_byte == pytest.approx(4 * wide.seconds_per_byte)
    assert narrow.configurations()[0][-1] == (18, 0, 4)
