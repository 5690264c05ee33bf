"""Ways to spread a job over racks."""

from planner.candidates.expand import expand
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.search import MAX_FAILED, Blocks, Search
from planner.fabrics.spreads_over_racks import SpreadsOverRacks
from planner.heuristics.strategies import tightest
from tests.planner.fabrics.joined_racks.racks import PACKETS, racks


def test_parts_go_where_racks_have_the_least_room() -> None:
    """A tile is gone in the first two racks, one more in the second: parts of one find room there first."""
    health = {"failed_tiles": ["r0.s0.t0", "r1.s0.t0", "r1.s1.t0"]}
    instance = racks(PACKETS, 2, health=health)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    row = next(row for row, demand in enumerate(options.shapes) if demand.racks == 2)
    assert free.links is not None
    first, *others = SpreadsOverRacks(free, free.links, Search(tightest)).of(options.shapes[row]) or []
    assert len(others) == 2
    assert [instance.cluster.fabric.rack_of(server) for server, _ in first] == [0, 1]


def test_what_light_refuses_meanwhile_is_passed_over() -> None:
    """Racks are alike, so that none of them is offered any more."""
    instance = racks(PACKETS, 8)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    demands = list(options.shapes)
    demand = next(d for d in demands if d.racks == 2 and d.links == 1 and d.boundary.max() <= 4)
    assert free.links is not None
    found = SpreadsOverRacks(free, free.links, Search(tightest)).of(demand)
    assert found is not None
    first = next(found)
    free.refuse(demand.in_rack, first[: len(first) // 2])
    assert list(found) == []


def test_a_rack_that_refuses_leaves_the_others() -> None:
    """One tile of the first rack is taken, so that it comes first and refuses for itself alone."""
    instance = racks(PACKETS, 12, racks=12)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    demand = next(d for d in options.shapes if d.racks == 6 and d.in_rack.num_parts == 2 and d.boundary.max() <= 4)
    free.hold([(0, 0)])
    assert free.links is not None
    found = SpreadsOverRacks(free, free.links, Search(tightest)).of(demand)
    assert found is not None
    first = next(found)
    assert {server // 2 for server, _ in first} == {0, 1, 2, 3, 4, 5}
    free.refuse(demand.in_rack, [(server, count) for server, count in first if server // 2 == 0])
    assert {server // 2 for server, _ in next(found)} == {1, 2, 3, 4, 5, 6}


def test_a_part_lies_alike_in_racks_with_nothing_taken_and_is_routed_alike_there() -> None:
    """What is found once is what a search of its own would find in each of them."""
    instance = racks(PACKETS, 12, racks=4)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    rows = [row for row, d in enumerate(options.shapes) if d.racks == 3 and d.in_rack.num_parts > 1 and d.links]
    assert free.links is not None
    num_placed = 0
    for row in rows:
        demand = options.shapes[row]
        for blocks in SpreadsOverRacks(free, free.links, Search(tightest)).of(demand) or ():
            found = free.assign(options, row, blocks)
            if found is None:
                continue
            free.release_named(found)
            alone = FreeState.empty(instance.cluster)
            alone.is_untouched = lambda rack: False  # type: ignore[method-assign]
            assert alone.assign(options, row, blocks) == found
            num_placed += 1
            break
    assert num_placed > 10


def test_a_job_that_is_refused_over_few_racks_is_tried_over_more() -> None:
    """Its parts are smaller there, and need less light."""
    instance = racks(PACKETS, 12, racks=6)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    over = {number: [d for d in options.shapes if d.racks == number] for number in (3, 6)}
    assert len(over[3]) > MAX_FAILED

    def realize(demand: Demand, blocks: Blocks) -> Demand | None:
        return demand if demand.racks == 6 else None

    rows = ((demand, demand) for demand in [*over[3], *over[6]])
    assert free.first_that_fits(rows, Search(tightest), realize) == over[6][0]


def test_racks_without_room_or_links_are_none() -> None:
    instance = racks(PACKETS | {"oversubscription": 4}, 8)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    demand = next(demand for demand in options.shapes if demand.racks == 2 and demand.links == 1)
    assert free.links is not None
    free.links.free[0,] = 0
    assert SpreadsOverRacks(free, free.links, Search(tightest)).of(demand) is not None
    free.links.free[1,] = 0
    assert SpreadsOverRacks(free, free.links, Search(tightest)).of(demand) is None
    free.links.free[0,] = free.links.free[1,] = 1
    free.hold([(0, 0), (2, 0)])
    assert SpreadsOverRacks(free, free.links, Search(tightest)).of(demand) is None
