"""Ways of all jobs that fill servers together: bin packing in which servers with as much room are one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.cpsat.divisions.arc_flow import ArcFlow, ServerFilling
from planner.cpsat.divisions.ways import JobWays, Way
from planner.formulation.step_two import FOUND
from planner.formulation.terms import Term, sum_of


@dataclass(frozen=True)
class Chosen:
    """Ways of the jobs that run, at most one each, and a bound on the value of any others."""

    ways: tuple[Way, ...]
    bound: float
    fillings: tuple[ServerFilling, ...] = ()
    """servers that hold the parts of the ways, wherever those of one job lie"""


class Master:
    """The open ways of all jobs, on so many servers by their room.

    What is not open may stand where an open way of no less value does not: so nothing is left out because no plan is
    worth as much.
    """

    def __init__(self, jobs: Sequence[JobWays], rooms: Counter[int]) -> None:
        self.cp, self._num_jobs = cp_model.CpModel(), len(jobs)
        self._literals = {way: self.cp.new_bool_var("") for job in jobs for way in job.open()}
        for job in jobs:
            literals = [self._literals[way] for way in job.open()]
            if job.options.must_run:
                self.cp.add_exactly_one(literals)
            else:
                self.cp.add_at_most_one(literals)
        self.term = self._value(jobs)
        self._flow = self._filled(rooms)

    def _value(self, jobs: Sequence[JobWays]) -> Term:
        term = sum_of([[(way.value, self._literals[way]) for way in job.open()] for job in jobs], is_maximized=True)
        self.cp.maximize(term.expression)
        return term

    def _filled(self, rooms: Counter[int]) -> ArcFlow:
        """Servers filled with the parts of the chosen ways."""
        wanted: dict[int, list[cp_model.LinearExprT]] = {}
        for way, literal in self._literals.items():
            for ranks, number in Counter(way.division).items():
                wanted.setdefault(ranks, []).append(number * literal)
        return ArcFlow(self.cp, wanted, [rooms[room] for room in range(max(rooms) + 1)], rooms.total())

    def forbid(self, ways: Sequence[Way]) -> None:
        """These exclude each other."""
        if all(way in self._literals for way in ways):
            self.cp.add_bool_or([~self._literals[way] for way in ways])

    def hint(self, ways: Sequence[Way]) -> None:
        """Start from these."""
        for way, literal in self._literals.items():
            self.cp.add_hint(literal, way in ways)

    def solve(self, solver: cp_model.CpSolver) -> Chosen | None:
        """The most valuable ways that fit, but for rounding; none where none do or none are found in time."""
        solver.parameters.absolute_gap_limit = self._num_jobs
        status = solver.solve(self.cp)
        if status == cp_model.INFEASIBLE:
            return Chosen((), float("-inf"))
        if status not in FOUND:
            return None
        chosen = self._read(solver, self.term.to_float(round(solver.best_objective_bound)))
        return self._least_divided(solver, chosen) if any(len(way.division) > 1 for way in chosen.ways) else chosen

    def _read(self, solver: cp_model.CpSolver, bound: float) -> Chosen:
        ways = tuple(way for way, literal in self._literals.items() if solver.value(literal))
        return Chosen(ways, bound, tuple(self._flow.fillings(solver.value)))

    def _least_divided(self, solver: cp_model.CpSolver, chosen: Chosen) -> Chosen:
        """Of choices worth as much, the one of the fewest parts: it asks the least of what joins servers."""
        self.cp.add(self.term.expression >= round(solver.objective_value))
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        self.hint(chosen.ways)
        self.cp.minimize(sum(len(way.division) * literal for way, literal in self._literals.items()))
        solver.parameters.absolute_gap_limit = 0
        return self._read(solver, chosen.bound) if solver.solve(self.cp) in FOUND else chosen
