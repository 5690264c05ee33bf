"""Light traced by hand through servers that it crosses."""

import pytest

from costmodel.fabrics import Lightpath
from planner.fabrics.lightpath.rule_light import trace
from planner.model.plan import Circuit
from tests.planner.checks.good import crossing
from tests.planner.checks.plans import instance_of, job


def test_path_of_a_crossing_by_hand() -> None:
    """Slots lie as 0 1 2 over 3 4 5: in s1 light walks from the slot of fiber 0 to that of fiber 1."""
    instance, plan = crossing()
    path = trace(instance.cluster.fabric, plan["ring"].circuits[0].circuits[1])  # type: ignore[arg-type]
    assert path is not None
    assert path.boundaries == ((0, 1, 0), (1, 0, 1), (2, 1, 0))
    assert path.fibers == ((0, 1, 0), (1, 2, 1))


@pytest.mark.parametrize(
    ("source", "destination", "fiber", "boundaries"),
    [
        ("s0.t0", "s0.t5", "", "0-1 1-2 2-5"),
        ("s0.t5", "s0.t0", "", "5-4 4-3 3-0"),
        ("s0.t3", "s0.t2", "", "3-4 4-5 5-2"),
        ("s0.t4", "s0.t4", "", ""),
        ("s0.t5", "s1.t3", "s0>s1#1", "5-4 4-1 1-0 0-3"),
        ("s0.t1", "s1.t2", "s0>s1#7", "1-2"),
        ("s0.t1", "s1.t2", "s0>s1#11", "1-2 2-5 5-2"),
    ],
)
def test_trace_by_hand(source: str, destination: str, fiber: str, boundaries: str) -> None:
    fabric = instance_of(job("any", 1), fabric={"fibers": 12}).cluster.fabric
    assert isinstance(fabric, Lightpath)
    circuit = Circuit(source=source, destination=destination, wavelengths=(0,), fibers=tuple(fiber.split()))
    path = trace(fabric, circuit)
    assert path is not None
    assert " ".join(f"{a}-{b}" for _, a, b in path.boundaries) == boundaries
    assert [f"s{a}>s{b}#{i}" for a, b, i in path.fibers] == fiber.split()
