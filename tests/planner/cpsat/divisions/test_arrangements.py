"""Parts of a job on servers, against every way to deal its blocks out to them."""

from itertools import combinations, product
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cpsat.divisions import arrangements as arranging
from planner.cpsat.divisions.arrangements import Parting, arrangements, parting_of
from planner.fabrics.demand import Demand
from planner.formulation.step_one import PairLight

BLOCKS, SERVERS, PART = 5, 4, 2
Circuits = dict[tuple[int, int], int]
PAIRS = [(a, b) for a, b in product(range(BLOCKS), repeat=2) if a != b]
CIRCUITS = st.lists(st.dictionaries(st.sampled_from(PAIRS), st.integers(1, 3), min_size=1), min_size=1, max_size=2)
CARRIED = st.dictionaries(st.sampled_from([*combinations(range(SERVERS), 2)]), st.integers(1, 6))


def table(carried: Circuits) -> tuple[tuple[int, ...], ...]:
    """What each of some servers can send each other one."""
    return tuple(tuple(carried.get((min(a, b), max(a, b)), 0) for b in range(SERVERS)) for a in range(SERVERS))


def links_of(configurations: list[Circuits], carried: Circuits) -> PairLight:
    """Least light that leaves so many blocks, and most that exchange none with them, by plain loops."""
    sets = [{*some} for number in range(BLOCKS + 1) for some in combinations(range(BLOCKS), number)]
    joined = {pair for circuits in configurations for pair in circuits}
    leaving, apart = dict[int, int](), dict[int, int]()
    for some in sets:
        light = max(sum(w for (a, b), w in each.items() if a in some and b not in some) for each in configurations)
        far = [b for b in range(BLOCKS) if b not in some and not any({(a, b), (b, a)} & joined for a in some)]
        leaving[len(some)] = min(light, leaving.get(len(some), light))
        apart[len(some)] = max(len(far), apart.get(len(some), 0))
    of_counts = {count: leaving[count] for count in range(1, BLOCKS)}
    return PairLight(lambda _: of_counts, lambda _: (), lambda _: [*apart.values()], carried, is_all=True)


def fits(configurations: list[Circuits], carried: Circuits, places: tuple[int, ...]) -> bool:
    """Whether fibers carry the light of blocks that lie there, server by server."""
    for circuits in configurations:
        light: Circuits = {}
        for (a, b), width in circuits.items():
            if places[a] != places[b]:
                light[places[a], places[b]] = light.get((places[a], places[b]), 0) + width
        if any(width > carried.get((min(pair), max(pair)), 0) for pair, width in light.items()):
            return False
    return True


@settings(max_examples=60, deadline=None)
@given(configurations=CIRCUITS, carried=CARRIED, fiber=st.sampled_from([1, 2]))
def test_no_arrangement_that_fibers_carry_is_ruled_out(
    configurations: list[Circuits], carried: Circuits, fiber: int
) -> None:
    carried = {pair: fiber * width for pair, width in carried.items()}
    links, shape = links_of(configurations, carried), SimpleNamespace(num_ranks=BLOCKS * PART, part=PART)
    for places in product(range(SERVERS), repeat=BLOCKS):
        counts = [PART * places.count(server) for server in range(SERVERS)]
        if all(counts) and fits(configurations, carried, places):
            parting = parting_of(links, tuple(sorted(counts, reverse=True)), cast(Demand, shape))
            found = arrangements(table(carried), parting.in_fibers(fiber))
            assert found is not None
            assert counts in found.tolist()


def arranged(division: tuple[int, ...], light: list[int], apart: list[int], carried: Circuits) -> Any:
    found = arrangements(table(carried), Parting(division, tuple(light), tuple(apart)))
    return None if found is None else {*map(tuple, found.tolist())}


LINE = {(0, 1): 4, (1, 2): 4, (2, 3): 4}


def test_ranks_that_all_exchange_light_lie_on_no_line() -> None:
    assert arranged((2, 1, 1, 1), [0, 1, 1, 1, 1, 0], [5, 0, 0, 0, 0, 0], LINE) == set()


def test_a_ring_on_a_line_has_two_ranks_on_all_servers_but_the_ends() -> None:
    """Of six ranks on a ring, three exchange light with none of one, two with none of two."""
    found = arranged((2, 2, 1, 1), [0, 1, 1, 1, 1, 1, 0], [6, 3, 2, 1, 0, 0, 0], LINE)
    assert found == {(1, 2, 2, 1)}


def test_light_that_no_fibers_carry_from_one_side_to_the_other_rules_out() -> None:
    """Three of six ranks send the others five wavelengths, any other number one: no boundary has three aside."""
    found = arranged((3, 1, 1, 1), [0, 1, 1, 5, 1, 1, 0], [6, *[5] * 6], LINE)
    assert found == {(1, 3, 1, 1), (1, 1, 3, 1)}


def test_what_has_too_many_arrangements_is_not_listed(monkeypatch: Any) -> None:
    arrangements.cache_clear()
    monkeypatch.setattr(arranging, "MOST_LINES", 3)
    assert (
        arranged((2, 2, 1, 1), [0, 1, 1, 1, 1, 1, 0], [6, *[5] * 6], dict.fromkeys(combinations(range(4), 2), 9))
        is None
    )
    arrangements.cache_clear()
