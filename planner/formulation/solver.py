"""The one way to a CP-SAT solver."""

from ortools.sat.python import cp_model


def new_solver() -> cp_model.CpSolver:
    """A solver that leaves Ctrl-C to Python: after its own handler the next Ctrl-C would end the program at once."""
    solver = cp_model.CpSolver()
    solver.parameters.catch_sigint_signal = False
    return solver
