"""Limits of a tile. Listed collectives respect its sums, so that only superfluous circuits exceed them."""

from planner.checks import check
from planner.fabrics.lightpath.rule_tile import check_tile
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.pipeline import solve
from tests.oracles.tiny_modules import tiny_modules
from tests.planner.checks.good import at_once, exchange, grid
from tests.planner.checks.plans import broken, rewired
from tests.planner.optimum import OPTIONS


def found(instance: Instance, plan: Plan) -> list[tuple[str, float]]:
    return [(violation.where, violation.excess) for violation in check_tile(instance, plan)]


def test_wavelength_sent_twice() -> None:
    """t1 receives from t0 on 0, 1 what t0 also sends to t2 on 1: t0 sends 1 twice, t2 receives it twice."""
    instance, plan = exchange()
    worse = rewired(plan, "exchange", "s0.t0 s0.t2 1,3")
    assert broken(instance, worse) == {"tile"}
    assert found(instance, worse) == [("s0.t0", 1.0), ("s0.t2", 1.0)]


def test_wavelength_received_twice() -> None:
    """Tile 1 receives 0, 1 from tile 0 already; tile 2 has sent nothing else on them."""
    instance, plan = exchange()
    worse = rewired(plan, "exchange", "s0.t2 s0.t0 2,3", "s0.t2 s0.t1 0,1")
    assert broken(instance, worse) == {"tile"}
    assert found(instance, worse) == [("s0.t1", 1.0)] * 2 + [("s0.t0", 1.0)] * 2


def test_same_wavelengths_in_another_configuration() -> None:
    instance, plan = grid()
    assert found(instance, plan) == []


def test_sum_of_wavelengths() -> None:
    """One more circuit on a wavelength above all others: also superfluous, and of no such number."""
    instance, plan = at_once()
    more = rewired(plan, "at_once", "s0.t0 s0.t1 0,1,4")
    assert broken(instance, more) == {"tile", "circuits", "path"}
    assert found(instance, more) == [("s0.t0", 1.0), ("s0.t1", 1.0)]


def test_modules_leave_circuits_fewer_wavelengths() -> None:
    """Of a plan whose modules are said to take all wavelengths every circuit is too many."""
    instance = tiny_modules(53)
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    assert found(instance, plan) == []
    lit = [each for each in plan.assignments if each.circuits and each.configuration.memory_io]
    job, held = lit[0].job, lit[0].configuration.memory_io
    data = plan.model_dump(mode="json")
    wide = instance.cluster.fabric.num_wavelengths
    for assignment in data["assignments"]:
        if assignment["job"] == job:
            assignment["configuration"]["memory_io"] = wide
    worse = Plan.model_validate(data)
    assert held is not None
    assert {excess for _, excess in found(instance, worse)} <= {float(n) for n in range(1, wide - held + 1)}
    assert {"tile", "listed"} <= {violation.rule for violation in check(instance, worse)}


def test_peers() -> None:
    """A third peer where two are the limit; its wavelength is free at neither end, as all are used."""
    instance, plan = at_once()
    more = rewired(plan, "at_once", "s0.t0 s0.t1 0", "s0.t0 s0.t2 1")
    assert broken(instance, more) == {"tile", "circuits", "rounds"}
    assert found(instance, more) == [("s0.t0", 1.0)]
