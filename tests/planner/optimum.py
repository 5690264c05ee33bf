"""What the solver must agree on with an enumeration, and with itself when nothing is pruned."""

import pytest

from planner import SolveOptions, check, solve
from planner.candidates.expand import expand
from planner.model.instance import Instance
from planner.model.result import Result, Status

OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)
LONG = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=60.0)


def proven(instance: Instance, *, has_plan: bool) -> Result | None:
    """The outcome, proven optimal, whose plan passes the check; None where it is proven that there is no plan."""
    result = solve(instance, policy="cpsat", options=LONG)
    assert (result.status is Status.INFEASIBLE) == (not has_plan)
    if not has_plan:
        return None
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    return result


def assert_solved_to(instance: Instance, expected: float | None) -> None:
    """The value is proven to be the expected one by a plan that passes the check; None: proven to have no plan."""
    result = solve(instance, options=OPTIONS)
    if expected is None:
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []


def assert_pruning_changes_no_level(instance: Instance) -> None:
    """Without dominated candidates every level has the value that it has with all of them."""
    with_few, with_all = (solve(expand(instance, prune=prune), options=OPTIONS) for prune in (True, False))
    assert with_few.status is with_all.status
    if with_all.plan is None:
        return
    for one, other in zip(with_few.levels, with_all.levels, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-6, abs=1e-9), one.objective
    assert with_few.plan is not None
    assert check(instance, with_few.plan, starts=True) == []
