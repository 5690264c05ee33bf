"""Divisions of one job, and the rows that may run so."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cpsat.divisions import ways as module
from planner.cpsat.divisions.ways import RowNeeds, Way, ways_of
from planner.model.clock import Clock
from tests.planner.cpsat.divisions.division_cases import counts_of, exchanging, problem_of, ringing, ways
from tests.planner.small_racks import serving, training


def test_ranks_that_all_exchange_lie_together_or_in_halves() -> None:
    problem = problem_of(exchanging())
    found = {way.division for way in ways(problem).open()}
    assert found == {(4,), (2, 2)}


def test_replicas_without_light_lie_anywhere_there_is_room() -> None:
    problem = problem_of(serving("x", 4), servers=4)
    found = {way.division for way in ways(problem, rooms=(4, 3, 1, 1)).open()}
    assert found == {(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)}


def test_each_division_begins_with_its_most_valuable_row() -> None:
    problem = problem_of(training("x", 4, constraints={"collective": "ring"}), servers=3)
    found = ways(problem, rooms=(4, 4, 4))
    options = problem.options[0]
    for way in found.open():
        able = [
            row
            for row in options.rows_by_value()
            if options.shapes[row].num_ranks == 4 and found._allows(row, way.division)
        ]
        assert way.value == max(options.value[row] for row in able)


def test_row_that_is_refused_gives_way_to_one_that_asks_for_less() -> None:
    problem = problem_of(ringing(), servers=3, wavelengths_per_tile=4, wavelengths_per_fiber=4)
    found, shapes = ways(problem), problem.options[0].shapes
    before = next(way for way in found.open() if way.division == (3, 1))
    found.refuse(before)
    after = [way for way in found.open() if way.division == (3, 1)]
    assert before not in after
    assert all(way.value <= before.value for way in after)
    assert after
    assert not shapes[before.row].needs_no_more_than(shapes[after[0].row])


def test_row_that_may_not_stand_beside_others_stays_with_the_next_one() -> None:
    problem = problem_of(ringing(), servers=3, wavelengths_per_tile=4, wavelengths_per_fiber=4)
    found = ways(problem)
    before = next(way for way in found.open() if way.division == (3, 1))
    found.open_next(before)
    assert len([way for way in found.open() if way.division == (3, 1)]) == 2


def test_rows_of_too_low_a_bound_take_no_part() -> None:
    problem = problem_of(exchanging())
    options = problem.options[0]
    found = ways_of(0, options, options.value, 2 * options.most_value, counts_of(problem), (4, 4))
    assert found is not None
    assert list(found.open()) == list[Way]()


def test_too_many_divisions_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAYS", 1)
    problem = problem_of(serving("x", 4))
    options = problem.options[0]
    assert ways_of(0, options, options.value, 0.0, counts_of(problem), (4, 4)) is None


RINGS = problem_of(ringing(), servers=3, wavelengths_per_tile=4, wavelengths_per_fiber=4)
ASKED = st.builds(
    RowNeeds,
    amounts=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    may_part=st.booleans(),
    refused=st.frozensets(st.integers(0, 1)),
)


@settings(max_examples=30)
@given(asked=st.lists(ASKED | st.none(), min_size=len(RINGS.options[0]), max_size=len(RINGS.options[0])))
def test_every_row_that_is_not_open_is_covered_by_an_open_one_and_no_open_one_is(asked: list[RowNeeds | None]) -> None:
    """Of the rows that have a place and may be so divided: some open row of no less value asks for no more of
    anything."""

    def covers(row: int, other: int) -> bool:
        one, two = asked[row], asked[other]
        assert one is not None
        assert two is not None
        amounts = all(x <= y for x, y in zip(one.amounts, two.amounts, strict=True))
        return amounts and (one.may_part or not two.may_part) and not one.refused - two.refused

    found, options = ways(RINGS), RINGS.options[0]
    assert not found.open_uncovered(lambda division, row: asked[row], Clock.of(0))
    assert found.open_uncovered(lambda division, row: asked[row], Clock.of(60))
    for division in {way.division for way in found.open()}:
        rows = [way.row for way in found.open() if way.division == division]
        of_four = [r for r in options.rows_by_value() if options.shapes[r].num_ranks == 4]
        able = [r for r in of_four if asked[r] is not None and found._allows(r, division)]
        order = {row: at for at, row in enumerate(able)}
        before = {row: [other for other in rows if order[other] < order[row]] for row in able}
        assert {row for row in able if not any(covers(other, row) for other in before[row])} == {*rows}
