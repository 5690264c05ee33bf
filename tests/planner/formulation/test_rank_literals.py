"""One rank layout on every fabric: what is solved, and what is repaired, passes the check with any degrees."""

from collections.abc import Iterator

import pytest

from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.pipeline import solve
from planner.whatif.repair import repair
from tests.costmodel.parallelism.placed import groups
from tests.oracles.tiny_layouts import FABRICS, tiny_layout

NUM_SEEDS = 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", FABRICS)
def test_plans_and_repairs_pass_the_check_with_any_degrees(kind: str) -> None:
    for seed in range(NUM_SEEDS):
        problem = tiny_layout(kind, seed)
        plan = solve(problem, time_limit_s=5, workers=1).plan
        assert plan is not None
        require_sound(problem.instance, plan)
        for assignment in plan.assignments[:1]:
            found = repair(problem.instance, plan, [assignment.devices[-1]], limits=RepairLimits(time_limit_s=2))
            if found.plan is not None:
                require_sound(found.instance, found.plan)


def require_sound(instance: Instance, plan: Plan) -> None:
    """Nothing is wrong, and groups that are priced as if they shared a server do share one."""
    assert check(instance, plan) == []
    assert list(_torn(plan)) == []


def _torn(plan: Plan) -> Iterator[tuple[str, str]]:
    for assignment in plan.assignments:
        configuration = assignment.configuration
        for dimension in (each for each in DIMENSIONS if configuration.is_confined(each)):
            for ranks in groups(configuration.all_degrees, dimension).values():
                if len({assignment.devices[rank].rpartition(".")[0] for rank in ranks}) > 1:
                    yield assignment.job, dimension
