"""Plans that are offered together on the I/Os of an accelerator."""

from costmodel.fabrics.across_racks import AcrossRacks, links_of, plans_across
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, PlanMenu
from costmodel.fabrics.held_plans import held_reductions
from costmodel.fabrics.held_together import choices_within
from tests.costmodel.fabrics.sipam_cases import fabric

UPPER = {"kind": "packets", "bandwidth": "50 GB/s", "alpha": "2 us", "energy": "10 pJ/b"}


def test_faster_plans_over_more_links_leave_those_over_fewer() -> None:
    """Of each number of links the fastest plan stays that the I/Os allow; none of slower ones over as many links."""
    joined = fabric(racks=2, upper=UPPER)
    inner = held_reductions("data", 4, 4, joined.alpha_s, 1e11)
    data: list[GroupPlan] = [*plans_across(joined, inner, 2, 8, is_sent=True)]
    alone = PlanMenu([NO_PLAN])
    for is_confined in (True, False):
        menus = [alone, alone, PlanMenu(data), alone, alone]
        found = choices_within(menus, (is_confined,) * 5, 4, 4)
        kept = [menus[2][place] for place in found[:, 2].tolist()]
        assert {links_of(plan) for plan in kept} == {links_of(plan) for plan in data} == {8, 4, 2, 1}
        for plan in kept:
            assert isinstance(plan, AcrossRacks)
            rivals = [each for each in data if links_of(each) == plan.links and is_confined]
            assert not any(
                each.latency_s <= plan.latency_s and each.seconds_per_byte < plan.seconds_per_byte for each in rivals
            )
