"""The linear relaxation of CP-SAT models, by hand and against the model itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from planner.formulation.relaxation import least_objective
from planner.formulation.solver import new_solver

LITERAL = st.tuples(st.integers(0, 3), st.booleans())
ROW = st.tuples(st.sampled_from(["or", "one", "exactly", "sum", "if"]), st.lists(LITERAL, min_size=1, max_size=4))


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(ROW, max_size=4), values=st.lists(st.integers(-5, 5), min_size=5, max_size=5))
def test_no_solution_is_below_the_relaxation(rows: list[tuple[str, list[tuple[int, bool]]]], values: list[int]) -> None:
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
        least = least_objective(cp, 10.0)
        assert least is not None
        assert least <= solver.objective_value + 1e-6


def test_relaxation_by_hand() -> None:
    """Of three literals of which no two hold, half of each."""
    cp = cp_model.CpModel()
    literals = [cp.new_bool_var("") for _ in range(3)]
    for i in range(3):
        cp.add_bool_or([~literals[i], ~literals[(i + 1) % 3]])
    cp.maximize(10 * sum(literals))
    assert least_objective(cp, 10.0) == pytest.approx(-15.0)


def test_a_model_whose_relaxation_has_no_solution_has_no_bound() -> None:
    cp = cp_model.CpModel()
    literal = cp.new_bool_var("")
    cp.add_exactly_one([literal])
    cp.add_bool_or([~literal])
    cp.minimize(literal)
    assert least_objective(cp, 10.0) is None
