"""A failure of a part that no running job uses moves and stops nobody in the controller, whatever runs."""

from itertools import chain
from random import Random

import pytest

from tests.planner.controller.sites import chat, controller, request
from tests.planner.simulate.grounds import FABRICS
from tests.planner.whatif.repair.damaged_plan_cases import parts_of, parts_used

UPLINKS = {"sipam": {"uplinks": 1, "accelerators_per_server": 6}}


@pytest.mark.slow
@pytest.mark.parametrize("fabric", FABRICS)
def test_a_failed_part_that_no_job_uses_changes_nothing(fabric: str) -> None:
    with controller(fabric, **UPLINKS.get(fabric, {})) as c:
        for number, size in enumerate((1, 1, 2, 8, 1)):
            job = chat if size == 1 else request
            c.submit(job(f"j{number}", size), at_s=float(number))
        found = c.plan()
        assert found is not None
        instance, plan = found
        used = set(chain.from_iterable(parts_used(instance.cluster.fabric, a) for a in plan.assignments))
        free = sorted({*parts_of(instance.cluster.fabric)} - used)
        Random(fabric).shuffle(free)
        ports = [part for part in free if part.endswith(":port")]
        uplinks = [part for part in free if "#" in part and ".m" not in part]
        for part in dict.fromkeys((*ports[:6], *uplinks[:6], *free[:6])):
            assert c.fail(part) == (), part
            assert c.check() == [], part
