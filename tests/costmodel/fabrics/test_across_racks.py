"""Data groups over several racks."""

import pytest

from costmodel.fabrics.across_racks import AcrossRacks, links_of, plans_across, rack_counts, racks_of, upper_links
from costmodel.fabrics.group_plans import NO_PLAN, LinkPlan
from tests.costmodel.fabrics.joined_cases import joined
from tests.costmodel.fabrics.lightpath_cases import lightpath


def test_jobs_lie_in_racks_that_hold_their_parts_in_equal_numbers() -> None:
    assert [*rack_counts(joined(), 6, 24)] == [3]
    assert [*rack_counts(joined(), 6, 12)] == [2, 3]
    assert [*rack_counts(joined(), 2, 8)] == [2]
    assert [*rack_counts(lightpath(racks=3), 6, 12)] == []
    assert joined().most_devices_of_a_job == 24


def test_a_plan_is_that_of_each_rack_and_what_racks_exchange() -> None:
    """Eight ranks of a job in each rack, in two groups of four: both send over the links at once."""
    inner = LinkPlan("ring", 4, 1e-6, 1 / 100e9, 1.5, (2,))
    found = [*plans_across(joined(), [inner], 2, 8, is_sent=True)]
    assert [links_of(plan) for plan in found] == [8, 4, 2, 1]
    plan = found[1]
    assert (plan.latency_s, plan.seconds_per_byte) == pytest.approx((1e-6 + 4e-6, 1 / 100e9 + 2 / 200e9))
    assert isinstance(plan, AcrossRacks)
    assert plan.upper_j_per_byte == pytest.approx(0.25 * 80e-12)
    assert (plan.ranks, plan.name) == (8, "ring in each of 2 racks by 4 links")


def test_racks_have_the_same_circuits() -> None:
    line = LinkPlan("line", 2, wavelengths=(3,))
    plan = AcrossRacks(line, 2)
    assert plan.configurations() == (((0, 1, 3), (1, 0, 3), (2, 3, 3), (3, 2, 3)),)
    assert plan.offsets() == (line.offsets()[0] * 2,)


def test_what_sends_nothing_needs_no_links_and_exchanges_need_them_in_two_halves() -> None:
    (plan,) = plans_across(joined(), [NO_PLAN], 3, 4, is_sent=False)
    assert (racks_of(plan), links_of(plan), plan.name) == (3, 0, "over 3 racks")
    assert [*plans_across(joined(), [LinkPlan("exchange", 4)], 2, 8, is_sent=True)] == []
    assert upper_links(lightpath(racks=3)) == {}


def test_what_stays_in_servers_of_a_rack_does_so_in_each() -> None:
    inner = LinkPlan("ring", 4, near_share=0.75)
    assert [plan.near_share for plan in plans_across(joined(), [inner], 2, 8, is_sent=False)] == [0.75]
