"""The linear relaxation of CP-SAT models, by hand and against the model itself."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from planner.formulation.relaxation import relaxed
from planner.formulation.solver import new_solver
from planner.formulation.variables import total

LITERAL = st.tuples(st.integers(0, 3), st.booleans())
ROW = st.tuples(st.sampled_from(["or", "one", "exactly", "sum", "if"]), st.lists(LITERAL, min_size=1, max_size=4))


def solutions_of(cp: cp_model.CpModel, most: float) -> Iterator[tuple[int, ...]]:
    """All solutions whose objective is at most so much: every point of the variables' ranges is tried."""
    ends = [(min(variable.domain), max(variable.domain)) for variable in cp.proto.variables]
    ranges = [range(low, high + 1) for low, high in ends]
    objective = cp.proto.objective
    for point in product(*ranges):
        value = sum(entry * point[i] for i, entry in zip(objective.vars, objective.coeffs, strict=True))
        if value + objective.offset <= most and all(_holds(each, point) for each in cp.proto.constraints):
            yield point


def _holds(constraint: Any, point: Sequence[int]) -> bool:
    def is_true(literal: int) -> bool:
        return bool(point[literal]) if literal >= 0 else not point[-literal - 1]

    if not all(is_true(literal) for literal in constraint.enforcement_literal):
        return True
    if constraint.has_linear():
        row = constraint.linear
        amount = sum(entry * point[i] for i, entry in zip(row.vars, row.coeffs, strict=True))
        ends = [*row.domain]
        return any(a <= amount <= b for a, b in zip(ends[::2], ends[1::2], strict=True))
    if constraint.has_bool_or():
        return any(map(is_true, constraint.bool_or.literals))
    if constraint.has_at_most_one():
        return sum(map(is_true, constraint.at_most_one.literals)) <= 1
    assert constraint.has_exactly_one()
    return sum(map(is_true, constraint.exactly_one.literals)) == 1


def test_variables_that_every_good_solution_has_at_an_end_are_fixed() -> None:
    """The first of three literals of which one holds is worth far more than the others."""
    cp = cp_model.CpModel()
    literals = [cp.new_bool_var("") for _ in range(3)]
    cp.add_exactly_one(literals)
    cp.minimize(total([value * literal for value, literal in zip((1, 7, 4), literals, strict=True)]))
    found = relaxed(cp, 10.0)
    assert found is not None
    assert len([*solutions_of(cp, 7.0)]) == 3
    found.fix(cp, 5.0)
    assert {*solutions_of(cp, 7.0)} == {(1, 0, 0), (0, 0, 1)}


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(ROW, max_size=4),
    values=st.lists(st.integers(-5, 5), min_size=5, max_size=5),
    above=st.integers(0, 3),
)
def test_no_solution_is_below_the_relaxation_and_none_near_it_is_lost_where_variables_are_fixed(
    rows: list[tuple[str, list[tuple[int, bool]]]], values: list[int], above: int
) -> None:
    cp = cp_model.CpModel()
    literals, number = [cp.new_bool_var("") for _ in range(4)], cp.new_int_var(-2, 3, "")
    for kind, named in rows:
        some = [literals[i] if is_true else ~literals[i] for i, is_true in named]
        if kind == "or":
            cp.add_bool_or(some)
        elif kind == "one":
            cp.add_at_most_one(some)
        elif kind == "exactly":
            cp.add_exactly_one(some)
        elif kind == "sum":
            cp.add(sum(some) + number <= 2)
        else:
            cp.add(number >= 2).only_enforce_if(some[0])
    cp.minimize(sum(value * each for value, each in zip(values, [*literals, number], strict=True)) + 7)
    solver = new_solver()
    if solver.solve(cp) == cp_model.OPTIMAL:
        found, least = relaxed(cp, 10.0), round(solver.objective_value)
        assert found is not None
        assert found.least <= least + 1e-6
        solutions = set(solutions_of(cp, least + above))
        assert solutions
        found.fix(cp, least + above)
        assert set(solutions_of(cp, least + above)) == solutions


def test_relaxation_by_hand() -> None:
    """Of three literals of which no two hold, half of each."""
    cp = cp_model.CpModel()
    literals = [cp.new_bool_var("") for _ in range(3)]
    for i in range(3):
        cp.add_bool_or([~literals[i], ~literals[(i + 1) % 3]])
    cp.maximize(10 * sum(literals))
    found = relaxed(cp, 10.0)
    assert found is not None
    assert found.least == pytest.approx(-15.0)


def test_a_model_whose_relaxation_has_no_solution_has_no_bound() -> None:
    cp = cp_model.CpModel()
    literal = cp.new_bool_var("")
    cp.add_exactly_one([literal])
    cp.add_bool_or([~literal])
    cp.minimize(literal)
    assert relaxed(cp, 10.0) is None
