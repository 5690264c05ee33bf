"""Ctrl-C stays with Python, however often CP-SAT solves."""

import signal
from pathlib import Path

import pytest
from ortools.sat.python import cp_model

from planner.formulation.solver import new_solver
from tests.paths import ROOT


def _is_caught() -> bool:
    """Whether this process handles SIGINT, as the kernel has it."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def test_a_solve_leaves_the_handler_in_place() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        model = cp_model.CpModel()
        model.maximize(model.new_int_var(0, 3, "x"))
        assert new_solver().solve(model) == cp_model.OPTIMAL
        assert _is_caught()
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("package", ["planner", "costmodel"])
def test_there_is_no_other_way_to_a_solver(package: str) -> None:
    wrong = [path.name for path in (ROOT / package).rglob("*.py") if "CpSolver()" in path.read_text("utf-8")]
    assert wrong == (["solver.py"] if package == "planner" else [])
