"""Shared by the tests of `comparable`, `marginal` and `upgrades`."""

from planner.explain.marginal import marginal
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.whatif.comparable import references
from tests.planner.small_racks import Fields

OPTIONS = SolveOptions(workers=1, deterministic_limit=5.0)


def gains(data: Fields) -> dict[str, float]:
    """Proven gain by change."""
    found = marginal(Instance.parse(data), options=OPTIONS)
    assert all(m.status == "OPTIMAL" and m.gain == m.gain_at_most for m in found)
    assert [m.gain for m in found] == sorted((m.gain or 0.0 for m in found), reverse=True)
    return {m.change: m.gain for m in found if m.gain is not None}


def fastest(instance: Instance, name: str) -> float:
    return references(instance)[name].speed
