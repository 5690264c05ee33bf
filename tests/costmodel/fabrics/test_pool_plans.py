"""Which plans of two pools go together."""

from costmodel.fabrics.group_plans import NO_PLAN, LinkPlan
from costmodel.fabrics.pool_plans import PoolPlans, paired, plans_by_pool

RING = LinkPlan("ring", 4, radices=(4,), held=(1,), wavelengths=(2,))
WIDE = LinkPlan("ring", 8, radices=(8,), held=(1,), wavelengths=(4,))
EQUAL = LinkPlan("ring", 8, radices=(8,), held=(1,), wavelengths=(2,))


def test_light_of_both_pools_is_of_one_kind_and_width() -> None:
    assert [(plan.prefill, plan.decode) for plan in paired([RING], [WIDE, EQUAL])] == [(RING, EQUAL)]
    assert [(plan.prefill, plan.decode) for plan in paired([NO_PLAN], [WIDE])] == [(NO_PLAN, WIDE)]


def test_each_pool_has_its_own_plan() -> None:
    both = PoolPlans(EQUAL, RING)
    assert plans_by_pool(both) == (RING, EQUAL)
    assert plans_by_pool(RING) == (RING,)
    assert both.ranks == 8
    assert both.name == f"{EQUAL.name}, prompts {RING.name}"
