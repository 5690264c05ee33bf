"""Ways of all jobs that fill servers together: bin packing in which servers with as much room are one.

Servers are filled along paths of an arc-flow graph (Valerio de Carvalho, 1999): node n is a server with n devices
taken, an arc from n to n + k puts k ranks of a job beside them. Which server has which part is left open, so that the
model has no symmetry, and its relaxation is next to that of whole fillings of servers.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.cpsat.divisions.ways import JobWays, Way
from planner.formulation.step_two import FOUND
from planner.formulation.terms import Term, sum_of
from planner.formulation.variables import total


@dataclass(frozen=True)
class ServerFilling:
    """What lies in one server: parts by their ranks; some may stay empty."""

    room: int
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Chosen:
    """Ways of the jobs that run, at most one each, and a bound on the value of any others."""

    ways: tuple[Way, ...]
    bound: float
    fillings: tuple[ServerFilling, ...] = ()
    """servers that hold the parts of the ways, wherever those of one job lie"""


class Master:
    """The open ways of all jobs, on so many servers by their room; no plan is worth more than `most`."""

    def __init__(self, jobs: Sequence[JobWays], rooms: Counter[int], most: float) -> None:
        self.cp, self._most, self._num_jobs = cp_model.CpModel(), most, len(jobs)
        self._num_servers = rooms.total()
        self._arcs: dict[tuple[int, int], cp_model.IntVar] = {}
        """by node and ranks put there; none is one device left empty"""
        self._literals = {way: self.cp.new_bool_var("") for job in jobs for way in job.open()}
        for job in jobs:
            literals = [self._literals[way] for way in job.open()]
            if job.options.must_run:
                self.cp.add_exactly_one(literals)
            else:
                self.cp.add_at_most_one(literals)
        self.term = self._value(jobs)
        self.cp.add(self.term.expression <= self.term.scale.to_int(most) + len(jobs))
        self._fill(rooms)

    def _value(self, jobs: Sequence[JobWays]) -> Term:
        term = sum_of([[(way.value, self._literals[way]) for way in job.open()] for job in jobs], is_maximized=True)
        self.cp.maximize(term.expression)
        return term

    def _fill(self, rooms: Counter[int]) -> None:
        """Flow of all servers through the graph covers the parts of the chosen ways."""
        wanted: dict[int, list[cp_model.LinearExprT]] = {}
        for way, literal in self._literals.items():
            for ranks, number in Counter(way.division).items():
                wanted.setdefault(ranks, []).append(number * literal)
        most, servers = max(rooms), rooms.total()
        balance: list[list[cp_model.LinearExprT]] = [[] for _ in range(most + 1)]
        reached = {0}
        for ranks in sorted(wanted, reverse=True):
            arcs = []
            for node in range(most - ranks + 1):
                if node in reached:
                    reached.add(node + ranks)
                    arcs.append(self.cp.new_int_var(0, servers, ""))
                    self._arcs[node, ranks] = arcs[-1]
                    balance[node].append(-arcs[-1])
                    balance[node + ranks].append(arcs[-1])
            self.cp.add(total(wanted[ranks]) <= total(arcs))
        for node in range(most):
            empty = self._arcs[node, 0] = self.cp.new_int_var(0, servers, "")
            balance[node].append(-empty)
            balance[node + 1].append(empty)
        for node, terms in enumerate(balance):
            self.cp.add(total(terms) == rooms[node] - (servers if node == 0 else 0))

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
        ways = tuple(way for way, literal in self._literals.items() if solver.value(literal))
        bound = min(self._most, self.term.to_float(round(solver.best_objective_bound)))
        return Chosen(ways, bound, tuple(self._fillings(solver)))

    def _fillings(self, solver: cp_model.CpSolver) -> Iterator[ServerFilling]:
        """The paths of the flow, one a server."""
        flow = {arc: solver.value(variable) for arc, variable in self._arcs.items()}
        for _ in range(self._num_servers):
            node, parts = 0, list[int]()
            while (ranks := next((k for n, k in flow if n == node and flow[n, k]), None)) is not None:
                flow[node, ranks] -= 1
                node += max(ranks, 1)
                parts += [ranks] if ranks else []
            yield ServerFilling(node, tuple(parts))
