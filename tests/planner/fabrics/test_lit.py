"""Circuits of a job that are on, and those of some of its accelerators."""

from planner.fabrics.lit import NOTHING_LIT, Lit
from planner.model.plan import Circuit, HeldCircuits, MemoryCircuit


def circuit(source: str, to: str) -> Circuit:
    return Circuit(source=source, destination=to, wavelengths=(0,))


def plug(device: str) -> MemoryCircuit:
    return MemoryCircuit(device=device, rail=1, port=f"{device}#port", units=(f"{device}#unit",))


def test_those_among_some_accelerators_join_no_others() -> None:
    a, b, c = "s0.a0", "s0.a1", "s0.a2"
    held = HeldCircuits(dimension="data", circuits=(circuit(a, b), circuit(b, c)))
    lit = Lit((held,), (plug(a), plug(c)))
    assert lit
    assert lit.by_phase == {(None, each) for each in (*held.circuits, plug(a), plug(c))}
    assert lit.among([a, b]).by_phase == {(None, circuit(a, b)), (None, plug(a))}
    assert lit.among([b]) == NOTHING_LIT
    assert not NOTHING_LIT
