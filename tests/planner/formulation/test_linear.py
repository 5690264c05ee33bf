"""Small linear programs whose optimum is known, and what their multipliers say."""

import numpy as np
import pytest

from planner.formulation.linear import Rows, minimized


def test_bound_columns_and_multipliers_of_a_corner() -> None:
    """Most of x + 2 y where x + y <= 4 and y <= 3: one more of the first limit is worth 1, of the second as well."""
    rows = Rows()
    rows.add([0, 1], [1.0, 1.0], -np.inf, 4.0)
    rows.add([1], [1.0], -np.inf, 3.0)
    found = minimized(rows, np.array([[0.0, 10.0], [0.0, 10.0]]), np.array([-1.0, -2.0]), 10.0)
    assert found is not None
    assert found.bound == pytest.approx(-7.0)
    assert found.columns == pytest.approx([1.0, 3.0])
    assert found.multipliers == pytest.approx([-1.0, -1.0])


def test_a_program_without_solution_has_no_minimum() -> None:
    rows = Rows()
    rows.add([0], [1.0], 2.0, 3.0)
    assert minimized(rows, np.array([[0.0, 1.0]]), np.array([1.0]), 10.0) is None
