"""What step 2 left open is decided in the time that is left: the search does not end unproven before."""

from dataclasses import replace

import pytest

from planner.checks import check
from planner.cpsat import benders
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.brute_force import brute_force
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.planner.cpsat.hesitation import Hesitation

TIMED = SolveOptions(time_limit_s=600.0, workers=1)


@pytest.mark.parametrize(
    "instance", [tiny_instance(16), *map(tiny_crossing, (0, 11, 22, 35, 37))], ids=lambda instance: instance.name
)
def test_levels_are_proven_though_step_two_hesitates(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    hesitation, expected = Hesitation(), brute_force(instance)
    monkeypatch.setattr(benders, "realize", hesitation)
    result = solve(instance, options=TIMED)
    assert hesitation.asked
    assert result.statistics["undecided"] == 0
    if expected is None:
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL
    found = {level.objective: level.value for level in result.levels}
    assert found == pytest.approx(expected.values, rel=1e-6, abs=1e-9)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []


def test_where_work_is_limited_instead_of_time_what_was_set_aside_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same work would end the same way: the bound then stays what it was before."""
    instance = tiny_crossing(11)
    monkeypatch.setattr(benders, "realize", Hesitation())
    expected, result = brute_force(instance), solve(instance, options=replace(TIMED, deterministic_limit=5.0))
    assert expected is not None
    assert result.status is Status.FEASIBLE
    assert result.statistics["undecided"] > 0
    assert result.bound is not None
    assert result.bound >= expected.values["value"] - 1e-9
