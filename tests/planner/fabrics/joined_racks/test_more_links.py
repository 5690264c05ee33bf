"""What jobs lack of links between racks, and what more of them would give."""

from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.candidates.unlisted import why_unlisted
from planner.explain import explain
from planner.explain.marginal import marginal
from planner.fabrics.free_state import FreeState
from planner.fabrics.joined_racks import more_links
from planner.fabrics.search import Search
from planner.heuristics.greedy import place
from planner.heuristics.strategies import tightest
from planner.model.edit import as_residents, pinned, with_job
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.phrases import listed
from planner.model.plan import Assignment, Plan
from planner.pipeline import solve
from tests.planner.fabrics.joined_racks.racks import FIBERS, OPTIONS, PACKETS, SWITCHES, racks


def test_a_shortage_names_the_racks() -> None:
    """Two jobs of twelve in three racks of eight, each with one uplink: there is room for both, but links for one."""
    few = PACKETS | {"oversubscription": 8}
    instance = racks(few, 12, 12, tiles_per_server=4)
    one = _in_thirds(instance)
    beside = pinned(instance, Plan(instance="racks", assignments=(one,)), "j1")
    told = more_links.counted(beside, "j1", 12)
    parts = [f"of rack {rack} are 0 free" for rack in range(3)]
    assert told == f"needs 1 uplink in each of 3 racks; of the uplinks {listed(parts)}"
    explained = explain(instance, "j1", plan=Plan(instance="racks", assignments=(one,)), options=OPTIONS)
    assert f"with 12 accelerators: {told}" in [statement.text for statement in explained.statements]
    assert more_links.counted(instance, "j0", 12) is None
    assert more_links.counted(racks(None, 4), "j0", 4) is None


def _in_thirds(instance: Instance) -> Assignment:
    """The first job with a third of its ranks in each rack, first fit."""
    options = expand(instance).options[0]
    row = next(row for row in options.rows_by_value() if options.shapes[row].racks == 3)
    return place(FreeState.empty(instance.cluster), options, Search(tightest), [row]) or pytest.fail("it has no place")


def test_more_links_are_offered() -> None:
    changes = [each.change for each in more_links.upgrades(racks(SWITCHES, 6))]
    assert changes == ["one more port of each rack", "twice the bandwidth of a port between racks"]
    more = [*more_links.upgrades(racks(FIBERS, 6))]
    assert more[0].change == "one more fiber between all racks"
    assert more[0].instance is not None
    assert getattr(more[0].instance.cluster.fabric.upper_layer, "fibers", None) == 2
    assert [*more_links.upgrades(racks(None, 4))] == []
    (lifted,) = more_links.lifted(racks(PACKETS, 6))
    assert lifted.reason == "the uplinks between racks are too few where it finds accelerators"
    assert with_job(lifted.instance, "j0", weight=2.0).job("j0").weight == 2.0


def test_one_more_link_is_no_addition() -> None:
    """Halvings of 5 links are 5, 2 and 1, those of 6 are 6, 3 and 1: what held 2 + 2 + 1 holds 3 + 1 + 1 at most."""
    is_addition = {each.change: each.is_addition for each in more_links.upgrades(racks(FIBERS, 6))}
    assert is_addition == {
        "one more fiber between all racks": False,
        "twice the bandwidth of a wavelength between racks": True,
    }


@pytest.mark.slow
def test_a_resident_whose_links_are_not_listed_of_more_cannot_be_compared() -> None:
    """Four links of a rack are halvings of 4 ports, and none of 5."""
    alone = racks(SWITCHES | {"ports": 4}, 12)
    plan = solve(alone, options=OPTIONS).plan
    assert plan is not None
    assert plan["j0"].configuration.data_collective.links == 4
    found = {each.change: each.status for each in marginal(as_residents(alone, plan), options=OPTIONS)}
    assert found["one more port of each rack"] == "NOT_COMPARABLE"
    assert found["twice the bandwidth of a port between racks"] == "OPTIMAL"
    assert [*more_links.lifted(as_residents(alone, plan))] == [], "nor can a plenty of them, 20 ports, be told"


@pytest.mark.parametrize("upper", [SWITCHES | {"ports": 4096}, FIBERS | {"fibers": 4096}])
def test_no_more_links_are_offered_than_files_may_state(upper: dict[str, Any]) -> None:
    (faster,) = more_links.upgrades(racks(upper, 4))
    assert faster.change.startswith("twice the bandwidth")


def test_sizes_that_no_racks_share_are_told() -> None:
    told = why_unlisted(racks(PACKETS, 8).cluster, racks(PACKETS, 7).job("j0"))
    assert told == "7 accelerators make no equal parts of 3 racks of 4 at most; try a number with more divisors"
    with pytest.raises(InputError, match="needs at least 13 accelerators, but the cluster has 12; ask for fewer"):
        racks(PACKETS, 13)
