"""Ways of all jobs over one server or two: jobs of one server by arc flow, the two servers of others by name.

What jobs over two servers leave of each server is filled with those of one, wherever these lie; so only the former
have a variable for each server, and pairs of servers share the light that their fibers carry.
"""

from collections.abc import Collection, Sequence

from ortools.sat.python import cp_model

from planner.cpsat.divisions.arc_flow import ArcFlow
from planner.cpsat.divisions.ways import Division, JobWays, Way
from planner.cpsat.divisions.whole import in_one_server_each
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_one import PairLight
from planner.formulation.step_two import FOUND
from planner.formulation.terms import Term, sum_of
from planner.formulation.variables import Pair, total


class PairMaster:
    """The open ways of all jobs on the servers of a problem; no plan is worth more than `most`."""

    def __init__(self, problem: Problem, jobs: Sequence[JobWays], links: PairLight, most: float) -> None:
        self.cp, self._problem, self._links = cp_model.CpModel(), problem, links
        cluster = problem.cluster
        self._rooms = {s: len(cluster.lit_slots(s)) for s in range(cluster.fabric.num_servers)}
        self._literals: dict[Way, cp_model.IntVar] = {}
        self._parts: dict[tuple[int, int, int], cp_model.IntVar] = {}
        """by job, ranks and server: the job is divided and has so many ranks there"""
        self._divided: list[cp_model.IntVar] = []
        self._light: dict[Pair, list[cp_model.LinearExprT]] = {pair: [] for pair in links.carried}
        for job in jobs:
            self._add(job)
        for pair, carried in links.carried.items():
            self.cp.add(total(self._light[pair]) <= carried)
        self._flow = self._filled()
        self.term = self._value(jobs, most)

    def _add(self, job: JobWays) -> None:
        """At most one way of a job; light that no pair of servers carries rules a division out."""
        light: dict[Way, int] = {}
        for way in job.open():
            if len(way.division) > 1:
                shape = job.options.shapes[way.row]
                needed = max(self._links.leaving(shape)[ranks // shape.part] for ranks in way.division)
                if needed > max(self._links.carried.values()):
                    continue
                light[way] = needed
            self._literals[way] = self.cp.new_bool_var("")
        literals = [self._literals[way] for way in job.open() if way in self._literals]
        if job.options.must_run:
            self.cp.add_exactly_one(literals)
        else:
            self.cp.add_at_most_one(literals)
        if light:
            self._divide(job.job, light)

    def _divide(self, job: int, light: dict[Way, int]) -> None:
        """The two parts of a divided job lie on two servers whose fibers carry its light, or the least of its ways."""
        cp, least = self.cp, min(light.values())
        sizes = sorted({ranks for way in light for ranks in way.division})
        divided = cp.new_bool_var("")
        self._divided.append(divided)
        cp.add(sum(self._literals[way] for way in light) == divided)
        for ranks in sizes:
            here = [cp.new_bool_var("") for _ in self._rooms]
            self._parts |= {(job, ranks, server): literal for server, literal in zip(self._rooms, here, strict=True)}
            cp.add(sum(here) == sum(way.division.count(ranks) * self._literals[way] for way in light))
        touched = [cp.new_bool_var("") for _ in self._rooms]
        for server, literal in zip(self._rooms, touched, strict=True):
            cp.add(sum(self._parts[job, ranks, server] for ranks in sizes) == literal)
        for a in self._rooms:
            for b in range(a + 1, len(self._rooms)):
                both = []
                if self._links.carried.get((a, b), -1) >= least:
                    both.append(cp.new_bool_var(""))
                    self._light[a, b].append(least * both[0])
                cp.add_bool_or([~touched[a], ~touched[b], *both])

    def _filled(self) -> ArcFlow:
        """What divided jobs leave of each server is filled with the others."""
        wanted: dict[int, list[cp_model.LinearExprT]] = {}
        for way, literal in self._literals.items():
            if len(way.division) == 1:
                wanted.setdefault(way.division[0], []).append(literal)
        loads: dict[int, list[cp_model.LinearExprT]] = {server: [] for server in self._rooms}
        for (_, ranks, server), literal in self._parts.items():
            loads[server].append(ranks * literal)
        servers: list[list[cp_model.LinearExprT]] = [[] for _ in range(max(self._rooms.values()) + 1)]
        for server, room in self._rooms.items():
            left = [self.cp.new_bool_var("") for _ in range(room + 1)]
            self.cp.add_exactly_one(left)
            self.cp.add(sum(n * literal for n, literal in enumerate(left)) + total(loads[server]) == room)
            for n, literal in enumerate(left):
                servers[n].append(literal)
        return ArcFlow(self.cp, wanted, [total(each) for each in servers], len(self._rooms))

    def _value(self, jobs: Sequence[JobWays], most: float) -> Term:
        """The most value, and of plans worth as much one that divides few jobs: its circuits are soon realised."""
        literals = self._literals
        parts = [[(way.value, literals[way]) for way in job.open() if way in literals] for job in jobs]
        term = sum_of(parts, is_maximized=True)
        self.cp.add(term.expression <= term.scale.to_int(most) + len(jobs))
        self.cp.maximize(total([(len(jobs) + 1) * term.expression, *(-literal for literal in self._divided)]))
        return term

    def hint(self, pattern: Pattern) -> None:
        """Start from these choices, as far as they are ways."""
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        divisions = {j: self._division(j, choice) for j, choice in pattern.items()}
        for way, literal in self._literals.items():
            self.cp.add_hint(literal, divisions.get(way.job) == way.division)
        lying = {key for j, choice in pattern.items() for key in self._parts_of(j, choice)}
        for key, literal in self._parts.items():
            self.cp.add_hint(literal, key in lying)

    def forbid(self, pattern: Pattern, jobs: Collection[int]) -> None:
        """These jobs of a pattern exclude each other, those over two servers where they lie."""
        divisions = {j: self._division(j, pattern[j]) for j in jobs}
        taken = [x for way, x in self._literals.items() if jobs and divisions.get(way.job) == way.division]
        taken += [self._parts[key] for j in jobs for key in self._parts_of(j, pattern[j])]
        self.cp.add_bool_or([~literal for literal in taken])

    def solve(self, solver: cp_model.CpSolver) -> Pattern | None:
        """The best choices found, on servers; None where there are none, or none in time.

        Probing and the search for symmetry would take most of a short time.
        """
        solver.parameters.cp_model_probing_level = solver.parameters.symmetry_level = 0
        solver.parameters.linearization_level = 2
        if solver.solve(self.cp) not in FOUND:
            return None
        chosen = [way for way, literal in self._literals.items() if solver.value(literal)]
        blocks: dict[int, list[tuple[int, int]]] = {}
        left = dict(self._rooms)
        for (job, ranks, server), literal in self._parts.items():
            if solver.value(literal):
                blocks.setdefault(job, []).append((server, ranks))
                left[server] -= ranks
        whole = [way for way in chosen if len(way.division) == 1]
        pattern = dict(in_one_server_each(self._problem, whole, self._flow.fillings(solver.value), left))
        for way in chosen:
            if len(way.division) > 1:
                part = self._problem.options[way.job].shapes[way.row].part
                lying = tuple((server, ranks // part) for server, ranks in sorted(blocks[way.job]))
                pattern[way.job] = Choice(way.row, False, lying)
        return pattern

    def _division(self, job: int, choice: Choice) -> Division:
        part = self._problem.options[job].shapes[choice.row].part
        return tuple(sorted((count * part for _, count in choice.blocks), reverse=True))

    def _parts_of(self, job: int, choice: Choice) -> list[tuple[int, int, int]]:
        """Keys of the parts of a job over two servers; none for others."""
        if len(choice.blocks) != 2:
            return []
        part = self._problem.options[job].shapes[choice.row].part
        keys = [(job, count * part, server) for server, count in choice.blocks]
        return keys if all(key in self._parts for key in keys) else []
