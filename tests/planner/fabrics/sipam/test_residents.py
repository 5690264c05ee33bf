"""Jobs that run already in a pool stay, or leave what failed."""

from typing import Any

import pytest

from planner.checks import check
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.pipeline import solve
from tests.oracles.tiny_pools import tiny_pool
from tests.planner.optimum import OPTIONS


@pytest.mark.slow
def test_a_resident_stays_or_moves_off_what_failed() -> None:
    instance = tiny_pool(3, objectives=["value"])
    before = solve(instance, options=OPTIONS)
    assert before.plan is not None
    running = before.plan.assignments[0]
    data: dict[str, Any] = instance.model_dump(mode="json")
    job = next(job for job in data["jobs"] if job["name"] == running.job)
    data["jobs"] = [other for other in data["jobs"] if other is not job]
    held = running.model_dump(mode="json", include={"devices", "configuration", "circuits", "memory"})
    data["residents"] = [job | held]
    stays = solve(Instance.parse(data), options=OPTIONS)
    assert stays.plan is not None
    assert stays.plan[running.job].memory == running.memory
    assert not stays.plan[running.job].is_moved
    assert stays.plan.switches is not None
    assert stays.plan.switches.before
    data["cluster"]["health"]["failed_memory_units"] = [running.memory[0].units[0]]
    moves = solve(Instance.parse(data), options=OPTIONS)
    if moves.plan is not None:
        assert moves.plan[running.job].is_moved
        assert check(Instance.parse(data), moves.plan, starts=True) == []
    data["residents"][0]["memory"] = data["residents"][0]["memory"][1:]
    with pytest.raises(InputError, match=r"needs \d+ units over \d+ memory circuits"):
        Instance.parse(data)
