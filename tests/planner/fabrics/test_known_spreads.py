"""Spreads that are found once are those that a free state gives whenever it is asked."""

from collections.abc import Iterator, Sequence

import pytest

from planner.candidates.expand import expand
from planner.fabrics.free_state import FreeState
from planner.fabrics.known_spreads import KnownSpreads
from planner.fabrics.problem import Problem
from planner.fabrics.search import Blocks, Search
from planner.heuristics.strategies import tightest
from tests.oracles.tiny_instances import tiny_instance
from tests.planner.fabrics.joined_racks.racks import SWITCHES, racks

SEEDS = range(4)


def _problems() -> Iterator[Problem]:
    yield from (expand(tiny_instance(seed)) for seed in SEEDS)
    yield expand(racks(SWITCHES, 4, 6))


def test_every_row_has_the_spreads_of_its_own() -> None:
    number = 0
    for problem in _problems():
        free, search = FreeState.empty(problem.cluster), Search(tightest)
        for options in problem.options:
            known = KnownSpreads(free, search)
            for demand in (each for each in options.shapes if each.racks == 1):
                number += 1
                assert [*known.of(demand)] == [*free.spreads(demand, search)]
    assert number > 100


@pytest.mark.parametrize("is_fixed", [True, False])
def test_a_strategy_is_asked_again_only_where_it_may_answer_otherwise(*, is_fixed: bool) -> None:
    asked = list[int]()

    def strategy(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
        asked.append(blocks)
        yield from tightest(room, servers, blocks, most)

    problem = expand(racks(SWITCHES, 4))
    demands = [each for each in problem.options[0].shapes if each.racks == 1]
    alike = [each for each in demands if each.room_key == demands[0].room_key]
    known = KnownSpreads(FreeState.empty(problem.cluster), Search(strategy, is_fixed=is_fixed))
    first = [*known.of(alike[0])]
    before = len(asked)
    assert all([*known.of(each)] == first for each in alike[1:])
    assert len(alike) > 1
    assert (len(asked) == before) is is_fixed


def test_spreads_that_were_not_all_looked_at_are_found_anew() -> None:
    def one_by_one(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[Blocks]:
        yield from ([(server, blocks)] for server in servers if room[server] >= blocks)

    problem = expand(racks(SWITCHES, 2))
    free, search = FreeState.empty(problem.cluster), Search(one_by_one)
    demand = next(each for each in problem.options[0].shapes if each.racks == 1)
    known, every = KnownSpreads(free, search), [*free.spreads(demand, search)]
    assert len(every) > 1
    assert next(iter(known.of(demand))) == every[0]
    assert [*known.of(demand)] == every
