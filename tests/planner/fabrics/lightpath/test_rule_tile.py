"""Limits of a tile. Listed collectives respect its sums, so that only superfluous circuits exceed them."""

from planner.fabrics.lightpath.rule_tile import check_tile
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.checks.good import at_once, exchange, grid
from tests.planner.checks.plans import broken, rewired


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


def test_peers() -> None:
    """A third peer where two are the limit; its wavelength is free at neither end, as all are used."""
    instance, plan = at_once()
    more = rewired(plan, "at_once", "s0.t0 s0.t1 0", "s0.t0 s0.t2 1")
    assert broken(instance, more) == {"tile", "circuits", "rounds"}
    assert found(instance, more) == [("s0.t0", 1.0)]
