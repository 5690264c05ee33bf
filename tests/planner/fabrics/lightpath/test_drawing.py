"""Losses of drawn circuits, by hand."""

from planner.fabrics.lightpath.drawing import loss_db
from tests.planner.report import rack


def test_loss_counts_crossings_and_fibers() -> None:
    circuits = rack.plan()[rack.RING].circuits[0].circuits
    # t0 to t1 crosses one boundary; t1 goes back to slot 0, where fiber 0 leaves, and enters at t0
    assert [loss_db(rack.instance().cluster, circuit) for circuit in circuits] == [0.25, 1.25, 0.25, 1.25]


def test_a_circuit_over_a_fiber_that_does_not_exist_has_no_loss() -> None:
    circuit = rack.plan()[rack.RING].circuits[0].circuits[1]
    assert loss_db(rack.instance().cluster, circuit.model_copy(update={"fibers": ("s0>s1#9",)})) is None
    assert loss_db(rack.instance().cluster, circuit.model_copy(update={"source": "s9.t0"})) is None
