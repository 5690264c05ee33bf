"""Light that is found again is what first fit would find there."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.candidates.expand import expand
from planner.fabrics.free_state import FreeState
from planner.fabrics.lightpath import known_light
from planner.fabrics.lightpath.free_state import LightpathFreeState
from planner.fabrics.lightpath.known_light import FoundLight, KnownLight
from planner.fabrics.problem import Problem
from planner.fabrics.search import Search
from planner.heuristics.greedy import place
from planner.heuristics.strategies import shuffled, tightest
from planner.model.plan import Assignment
from tests.planner.fabrics.joined_racks.racks import SWITCHES, racks

MANY = 40
"""jobs that are placed"""
HARDWARE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "shared": ({"waveguides": "shared"}, {}),
    "square": ({"waveguides": "shared", "tile_rows": 2}, {"failed_tiles": ["r0.s1.t2"]}),
    "crossing": ({"transit": 1}, {}),
    "broken": ({}, {"failed_fibers": [{"from": "r0.s0", "to": "r0.s1", "index": 0}], "failed_tiles": ["r1.s1.t1"]}),
    "weak": ({}, {"failed_lasers": [{"tile": "r0.s0.t1", "wavelength": 0}]}),
}
"""fields of the fabric, and what has failed"""


class Forgetful(KnownLight):
    """Searches for every answer."""

    def of(
        self, question: Hashable, servers: Sequence[int], search: Callable[[], FoundLight | None]
    ) -> FoundLight | None:
        return search()


@cache
def problem(name: str) -> Problem:
    """Jobs of many sizes on three racks of three servers of four tiles, one way or another."""
    fabric, health = HARDWARE[name]
    sizes = {"servers": 3, "tiles_per_server": 4, "max_peers": 3, "fibers": 2, "wavelengths_per_fiber": 2}
    return expand(racks(SWITCHES, *(1, 2, 3, 4, 6, 8, 12, 24), health=health, **sizes | fabric))


def placed(name: str, seed: int, known: KnownLight) -> list[Assignment | None]:
    """Jobs that come and go at random, each by a random row."""
    state, rng, found = FreeState.empty(problem(name).cluster), Random(seed), list[Assignment | None]()
    assert isinstance(state, LightpathFreeState)
    state._known, options = known, [each for each in problem(name).options if len(each)]
    for _ in range(MANY):
        job = rng.choice(options)
        search = Search(shuffled(rng), is_fixed=False) if rng.random() < 0.3 else Search(tightest)
        rows = rng.sample(range(len(job)), min(6, len(job)))
        there = [each for each in found if each is not None]
        if there and rng.random() < 0.2:
            gone = rng.choice(there)
            state.release_named(gone)
            found[found.index(gone)] = None
        found.append(place(state, job, search, rows))
    return found


@given(st.integers(0, 10_000), st.sampled_from([*HARDWARE]))
@settings(max_examples=40, deadline=None)
def test_jobs_get_the_light_that_a_search_gives_them(seed: int, name: str) -> None:
    assert placed(name, seed, KnownLight()) == placed(name, seed, Forgetful())


@pytest.mark.parametrize("name", ["plain", "crossing"])
def test_room_between_servers_is_what_jobs_leave_and_give_back(name: str) -> None:
    state, options = FreeState.empty(problem(name).cluster), problem(name).options
    assert isinstance(state, LightpathFreeState)
    rows = [(each, row) for each in options for row, shape in enumerate(each.shapes) if shape.num_blocks == 2]
    rows = [(each, row) for each, row in rows if each.shapes[row].has_light]
    blocks = [[(a, 1), (b, 1)] for a in range(3) for b in range(a + 1, 3)]

    def fits() -> list[bool]:
        return [state.may_span(each.shapes[row], on) for each, row in rows for on in blocks]

    before, seen = fits(), list[Assignment]()
    for each, row in rows:
        found = state.assign(each, row, blocks[0]) if state.room(each.shapes[row])[0] else None
        seen += [found] if found is not None else []
    assert 0 < sum(fits()) < sum(before)
    for assignment in seen:
        state.release_named(assignment)
    assert fits() == before


def test_many_answers_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the law above is about something."""
    calls, of, search = Counter[str](), KnownLight.of, LightpathFreeState._searched

    def asked(self: KnownLight, *given: Any) -> FoundLight | None:
        calls["asked"] += 1
        return of(self, *given)

    def searched(self: LightpathFreeState, *given: Any) -> FoundLight | None:
        calls["searched"] += 1
        return search(self, *given)

    monkeypatch.setattr(KnownLight, "of", asked)
    monkeypatch.setattr(LightpathFreeState, "_searched", searched)
    placed("plain", 0, KnownLight())
    assert 0 < calls["searched"] < 0.6 * calls["asked"]


def test_light_inside_a_server_is_found_again_where_the_same_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, search = list[int](), LightpathFreeState._searched

    def noted(self: LightpathFreeState, *given: Any) -> FoundLight | None:
        searched.append(given[1][0][0])
        return search(self, *given)

    monkeypatch.setattr(LightpathFreeState, "_searched", noted)
    state = FreeState.empty(problem("shared").cluster)
    options = next(each for each in problem("shared").options if each.shapes[0].num_ranks == 2)
    row = next(row for row, shape in enumerate(options.shapes) if shape.holds_circuits)
    blocks = options.shapes[row].num_blocks
    found = [state.assign(options, row, [(server, blocks)]) for server in (0, 1, 2, 2)]
    assert searched == [0, 1, 2]
    slots = [[name.rpartition(".")[2] for name in each.devices] for each in found if each is not None]
    assert slots[1] == slots[2] != slots[3]


@pytest.mark.parametrize(("bits", "searches"), [(0, 2), (40_000, 3)])
def test_questions_are_forgotten_by_what_they_hold(monkeypatch: pytest.MonkeyPatch, bits: int, searches: int) -> None:
    monkeypatch.setattr(known_light, "MOST_HELD", 20)
    known, searched = KnownLight(), list[int]()
    for question in ((0, 1 << bits), (1, 0), (0, 1 << bits)):
        known.of(question, [0], partial(searched.append, 0))
    assert len(searched) == searches
