"""The one way to a CP-SAT solver."""

from ortools.sat.python import cp_model


def new_solver() -> cp_model.CpSolver:
    """A solver that leaves Ctrl-C to Python: after its own handler the next Ctrl-C would end the program at once.

    Its presolve leaves rows alone that include others: OR-Tools 9.15 proves wrong optima there (google/or-tools issue
    5293).
    """
    solver = cp_model.CpSolver()
    solver.parameters.catch_sigint_signal = False
    solver.parameters.presolve_inclusion_work_limit = 0
    return solver
