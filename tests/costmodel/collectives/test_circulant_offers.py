"""What circulants add to the families on as many ports."""

import pytest

from costmodel.collectives.circulant_offers import beside, circulants
from costmodel.collectives.family import plans_of
from costmodel.collectives.limits import Limits
from costmodel.fabrics.held_plans import held_all_reduces, held_all_to_alls
from costmodel.fabrics.ocs_rail import ports_of

ALPHA_S, RATE = 2e-6, 25e9


def limits(ports: int) -> Limits:
    return Limits(ports, ports, ALPHA_S, 0.0, RATE)


@pytest.mark.parametrize("ranks", [5, 6, 7, 12, 16])
@pytest.mark.parametrize("ports", [2, 3, 4])
def test_held_menus_keep_families_and_add_what_is_quicker(ranks: int, ports: int) -> None:
    for menu in (held_all_reduces, held_all_to_alls):
        families, both = (menu(ranks, ports, ALPHA_S, RATE, offered) for offered in ("families", "circulants"))
        assert set(families) <= set(both)
        assert len(set(both)) == len(both)
        assert all(ports_of(plan) <= ports for plan in both)
        for new in set(both) - set(families):
            assert not any(
                old.latency_s <= new.latency_s * (1 - 1e-9) and old.seconds_per_byte <= new.seconds_per_byte
                for old in both
                if ports_of(old) <= ports_of(new)
            )


def test_a_group_of_twelve_on_four_ports_gets_the_bandwidth_of_a_ring_in_the_rounds_of_a_tree() -> None:
    ring_s = min(plan.time_s(1e6) for plan in held_all_reduces(12, 4, ALPHA_S, RATE))
    best_s = min(plan.time_s(1e6) for plan in held_all_reduces(12, 4, ALPHA_S, RATE, "circulants"))
    assert (round(1e6 * ring_s, 1), round(1e6 * best_s, 1)) == (58.7, 28.0)


def test_experts_over_more_ranks_than_ports_reach_have_an_all_to_all() -> None:
    assert held_all_to_alls(8, 2, ALPHA_S, RATE) == ()
    found = {plan.name for plan in held_all_to_alls(8, 2, ALPHA_S, RATE, "circulants")}
    assert found == {"circulant relay 1+3 w1", "circulant relay 1 w1"}


def test_plans_beside_others_are_those_that_none_of_them_equals() -> None:
    families = plans_of("all_reduce", 8, limits(4))
    found = beside(families, circulants("all_reduce", 8, limits(4)))
    assert found[: len(families)] == families
    assert [plan.name for plan in found[len(families) :]] == ["circulant 1+2+3+6 w1"]
