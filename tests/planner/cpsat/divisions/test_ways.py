"""Divisions of one job, and the rows that may run so."""

import pytest

from planner.cpsat.divisions import ways as module
from planner.cpsat.divisions.ways import Way, ways_of
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
