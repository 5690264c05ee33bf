"""Ways over several servers, by what can lie beside them."""

from itertools import product
from random import Random

import pytest

from planner.fabrics.sipam import spread_out
from planner.fabrics.sipam.server_layout import ServerLayout
from planner.fabrics.sipam.server_menus import Menu, ServerSpread
from planner.fabrics.sipam.spread_out import ways_over
from tests.planner.fabrics.sipam.packing_cases import FILLS, PRICES, beside, drawn, wide


def _layout(*menus: Menu, uplinks: int = 2) -> ServerLayout:
    return ServerLayout.empty(menus, [(4, 4)] * 3, [uplinks] * 3, PRICES)


def test_a_job_lies_over_servers_where_others_then_take_the_units_it_would_leave() -> None:
    ((j, way),) = ways_over(_layout(wide(), *beside(3, 3)))
    assert (j, way.shares, way.gain) == (0, (1, 1), 1.0), "two units of half a value each are left in one server"
    assert ways_over(_layout(wide(), FILLS)) == [], "nobody has use for what is left beside either way"


def test_jobs_that_gain_least_by_uplink_stay_where_there_are_too_few() -> None:
    menus = [wide(uplinks=3), wide(), *beside(3, 3)]
    assert [j for j, _ in ways_over(_layout(*menus, uplinks=3))] == [1, 0]
    assert [j for j, _ in ways_over(_layout(*menus, uplinks=2))] == [1]
    assert ways_over(_layout(*menus, uplinks=0)) == []


def test_a_job_that_must_run_and_fits_no_server_is_laid_whatever_it_loses() -> None:
    spread = ServerSpread(1, 2, 4, 2, 1, 1.0, 9.0)
    menus = [Menu((), (spread,), 0.0, 1.0, is_required=required) for required in (True, False)]
    assert [j for j, _ in ways_over(_layout(*menus))] == [0]
    too_large = spread._replace(ranks=5)
    assert ways_over(_layout(Menu((), (too_large,), 0.0, 1.0, is_required=True))) == []


def test_so_few_lie_beside_others_that_the_table_of_a_server_stays_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    menus = [wide(), *beside(3, 3)]
    assert ways_over(_layout(*menus))
    monkeypatch.setattr(spread_out, "MOST_UPDATES", 0.0)
    assert ways_over(_layout(*menus)) == [], "the first of them alone is looked at"


def test_gains_are_those_of_all_fillings_of_a_server() -> None:
    for seed in range(8):
        rng = Random(seed)
        menus = [drawn(rng, over=index % 2) for index in range(5)]
        layout = ServerLayout.empty(menus, [(4, 6)] * 3, [99] * 3, (1.0, 0.0))
        found = dict(ways_over(layout))
        for j, menu in enumerate(menus):
            alone = min(item.loss + _lost(menus, 4 - item.ranks, 6 - item.units) for item in menu.items)
            gains = [
                alone - spread.loss - sum(_lost(menus, 4 - share, 6 - share) for share in shares)
                for spread in menu.spreads
                for shares in ((2, 2), (2, 1, 1), (1, 1, 1, 1))
            ]
            best = max(gains, default=0.0)
            assert (j in found) == (best > 1e-9)
            assert j not in found or found[j].gain == pytest.approx(best)


def _lost(menus: list[Menu], ranks: int, units: int) -> float:
    """Of what is left of a server at 1 for each accelerator, by every choice of jobs for it."""
    if min(ranks, units) < 0:
        return float("inf")
    most = 0.0
    for choice in product(*([None, *menu.items] for menu in menus)):
        taken = [(menu, item) for menu, item in zip(menus, choice, strict=True) if item is not None]
        if sum(item.ranks for _, item in taken) <= ranks and sum(item.units for _, item in taken) <= units:
            most = max(most, sum(item.value - menu.worth for menu, item in taken))
    return ranks - most
