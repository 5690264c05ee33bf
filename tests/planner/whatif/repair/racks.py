"""Small racks with plans that failures disturb."""

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.pipeline import solve


def plan_of(data: dict[str, object]) -> tuple[Instance, Plan]:
    instance = Instance.parse(data)
    plan = solve(instance, policy="first_fit").plan
    assert plan is not None
    return instance, plan
