"""Repairs that are known beforehand, names of failures, and the quick repair of a full rack."""

import pytest

from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.whatif.repair import repair
from tests.planner.small_racks import rack, serving, training
from tests.planner.whatif.repair.racks import plan_of


def test_a_failed_fiber_moves_light_alone() -> None:
    instance, plan = plan_of(rack(training("p", 6, constraints={"collective": "ring"}), fibers=4))
    used = next(f for h in plan["p"].circuits for c in h.circuits for f in c.fibers)
    found = repair(instance, plan, [used])
    assert found.outcome == "repaired"
    assert found.moves == ()
    assert found.changed_circuits == found.least_changes > 0
    assert found.is_fewest


@pytest.mark.parametrize(("end", "form"), [("source", "{}:w{}"), ("destination", "{}:rx:w{}")])
def test_a_failed_laser_or_receiver_changes_one_circuit_and_moves_nobody(end: str, form: str) -> None:
    """Each of four tiles sends on three of its four wavelengths; the circuit takes the fourth."""
    instance, plan = plan_of(rack(training("p", 4, constraints={"collective": "exchange"}), servers=1))
    circuit = plan["p"].circuits[0].circuits[0]
    done = repair(instance, plan, [form.format(getattr(circuit, end), circuit.wavelengths[0])])
    assert (done.outcome, done.moves, done.changed_circuits, done.is_fewest) == ("repaired", (), 1, True)
    assert done.plan is not None
    assert check(done.instance, done.plan) == []


def test_a_tile_without_enough_lasers_is_left() -> None:
    """Two of four lasers are not enough for three peers; a spare tile is."""
    data = rack(training("p", 4, constraints={"collective": "exchange"}), servers=1, tiles=5)
    instance, plan = plan_of(data)
    tile = plan["p"].devices[0]
    done = repair(instance, plan, [f"{tile}:w0", f"{tile}:w1"])
    assert [(m.source, m.destination) for m in done.moves] == [(tile, "s0.t4")]
    assert done.is_fewest


def test_what_keeps_every_job_is_no_loss_however_it_was_found() -> None:
    """A job makes room for a pair; without a search that is found by asking one job to give way."""
    health = {"failed_tiles": ["s0.t3", "s1.t2", "s1.t3"]}
    instance, plan = plan_of(rack(training("pair", 2), serving("near", 1), serving("far", 1), health=health))
    assert [plan[name].devices[0] for name in plan.admitted] == ["s0.t0", "s0.t2", "s1.t0"]
    found = repair(instance, plan, ["s0.t0"], limits=RepairLimits(deterministic=1e-9, workers=1))
    assert found.plan is not None
    assert [(m.job, m.destination) for m in found.moves] == [("pair", "s0.t2"), ("near", "s1.t1")]
    assert (found.dropped, found.resized, found.lost_value) == ((), (), 0.0)
    assert (found.outcome, found.is_impossible) == ("repaired", False)
    assert "every job runs as before" in found.in_words(str)
