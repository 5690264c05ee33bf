"""Ways of all jobs over one server or two: jobs of one server by arc flow, the two servers of others by name.

What jobs over two servers leave of each server is filled with those of one, wherever these lie; so only the former
have a variable for each server, and pairs of servers share the light that their fibers carry.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ortools.sat.python import cp_model

from planner.cpsat.divisions.arc_flow import ArcFlow, ServerFilling
from planner.cpsat.divisions.ways import Division, JobWays, Way
from planner.cpsat.divisions.whole import in_one_server_each
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_one import PairLight
from planner.formulation.terms import Term, sum_of
from planner.formulation.variables import Pair, total

ShouldStop = Callable[[Pattern], bool]
"""is told choices better than those before; whether to look for no more"""


class OnPair(NamedTuple):
    """A job lies on these two servers, in a way that needs so much light between them."""

    job: int
    light: int
    pair: Pair


class PairMaster:
    """The open ways of all jobs on the servers of a problem; no plan is worth more than `most`."""

    def __init__(self, problem: Problem, jobs: Sequence[JobWays], links: PairLight, most: float) -> None:
        self.cp, self._problem, self._links = cp_model.CpModel(), problem, links
        cluster = problem.cluster
        self._rooms = {s: len(cluster.lit_slots(s)) for s in range(cluster.fabric.num_servers)}
        self._literals: dict[Way, cp_model.IntVar] = {}
        self._parts: dict[tuple[int, int, int], cp_model.IntVar] = {}
        """by job, ranks and server: the job is divided and has so many ranks there"""
        self._needed: dict[Way, int] = {}
        """light between the two servers of a divided job"""
        self._divided: dict[int, cp_model.IntVar] = {}
        """by job"""
        self._lying: dict[OnPair, cp_model.IntVar] = {}
        self._left: dict[int, list[cp_model.IntVar]] = {}
        """by server: divided jobs leave so many devices there"""
        self._light: dict[Pair, list[cp_model.LinearExprT]] = {pair: [] for pair in links.carried}
        for job in jobs:
            self._add(job)
        for pair, carried in links.carried.items():
            self.cp.add(total(self._light[pair]) <= carried)
        self._flow = self._filled()
        self.term = self._value(jobs, most)

    def _add(self, job: JobWays) -> None:
        """At most one way of a job; light that no pair of servers carries rules a division out."""
        divided = list[Way]()
        for way in job.open():
            if len(way.division) > 1:
                shape = job.options.shapes[way.row]
                needed = max(self._links.leaving(shape)[ranks // shape.part] for ranks in way.division)
                if needed > max(self._links.carried.values()):
                    continue
                self._needed[way] = needed
                divided.append(way)
            self._literals[way] = self.cp.new_bool_var("")
        literals = [self._literals[way] for way in job.open() if way in self._literals]
        if job.options.must_run:
            self.cp.add_exactly_one(literals)
        else:
            self.cp.add_at_most_one(literals)
        if divided:
            self._divide(job.job, divided)

    def _divide(self, job: int, ways: Sequence[Way]) -> None:
        """The two parts of a divided job lie on two servers whose fibers carry the light of its way."""
        cp, sizes = self.cp, sorted({ranks for way in ways for ranks in way.division})
        self._divided[job] = cp.new_bool_var("")
        cp.add(sum(self._literals[way] for way in ways) == self._divided[job])
        for ranks in sizes:
            here = [cp.new_bool_var("") for _ in self._rooms]
            self._parts |= {(job, ranks, server): literal for server, literal in zip(self._rooms, here, strict=True)}
            cp.add(sum(here) == sum(way.division.count(ranks) * self._literals[way] for way in ways))
        touching: dict[int, list[cp_model.IntVar]] = {server: [] for server in self._rooms}
        for light in sorted({self._needed[way] for way in ways}):
            lying = []
            for pair, carried in self._links.carried.items():
                if carried >= light:
                    literal = self._lying[OnPair(job, light, pair)] = cp.new_bool_var("")
                    self._light[pair].append(light * literal)
                    lying.append(literal)
                    for server in pair:
                        touching[server].append(literal)
            cp.add(sum(lying) == sum(self._literals[way] for way in ways if self._needed[way] == light))
        for server, pairs in touching.items():
            cp.add(sum(self._parts[job, ranks, server] for ranks in sizes) == total(pairs))

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
            left = self._left[server] = [self.cp.new_bool_var("") for _ in range(room + 1)]
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
        self.cp.maximize(total([(len(jobs) + 1) * term.expression, *(-literal for literal in self._divided.values())]))
        return term

    def hint(self, pattern: Pattern) -> None:
        """Start from these choices, as far as they are ways."""
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        ways = {j: way for j, choice in pattern.items() if (way := self._way(j, choice)) is not None}
        divided = {j: [*dict(pattern[j].blocks)] for j, way in ways.items() if way in self._needed}
        lying = {OnPair(j, self._needed[ways[j]], (min(on), max(on))) for j, on in divided.items()}
        parts = {key for j in divided for key in self._parts_of(j, pattern[j])}
        left = self._rooms | {}
        for _, ranks, server in parts:
            left[server] -= ranks
        for literals, chosen in (
            (self._literals, {*ways.values()}), (self._divided, {*divided}), (self._lying, lying), (self._parts, parts),
        ):  # fmt: skip
            for key, literal in literals.items():
                self.cp.add_hint(literal, key in chosen)
        for server, numbers in self._left.items():
            for n, literal in enumerate(numbers):
                self.cp.add_hint(literal, n == left[server])
        alone: dict[int, list[int]] = {server: [] for server in left}
        for j, way in ways.items():
            if len(way.division) == 1:
                alone[pattern[j].blocks[0][0]].append(way.division[0])
        self._flow.hint(self.cp, [ServerFilling(left[server], tuple(here)) for server, here in alone.items()])

    def _way(self, job: int, choice: Choice) -> Way | None:
        """The way of a choice, or of the most valuable row that is divided so."""
        division = self._division(job, choice)
        ways = [way for way in self._literals if way.job == job and way.division == division]
        return max(ways, key=lambda way: (way.row == choice.row, way.value), default=None)

    def forbid(self, pattern: Pattern, jobs: Collection[int]) -> None:
        """These jobs of a pattern exclude each other, those over two servers where they lie, and so do rows that ask
        for as much or more; where all of them share two servers, on any two that carry no more light."""
        wide = [self._as_wide(j, pattern[j]) for j in jobs]
        parts = [key for j in jobs for key in self._parts_of(j, pattern[j])]
        for new_name in self._images(sorted({server for *_, server in parts})):
            lying = [self._parts[job, ranks, new_name[server]] for job, ranks, server in parts]
            self.cp.add_bool_or([~literal for literal in (*wide, *lying)])

    def _as_wide(self, job: int, choice: Choice) -> cp_model.IntVar:
        """Literal: the job is divided as in a choice, and has a row that asks for as much or more."""
        shapes, division = self._problem.options[job].shapes, self._division(job, choice)
        literals = [
            literal
            for way, literal in self._literals.items()
            if way.job == job and way.division == division and shapes[choice.row].needs_no_more_than(shapes[way.row])
        ]
        wide = self.cp.new_bool_var("")
        self.cp.add(sum(literals) == wide)
        return wide

    def _images(self, servers: Sequence[int]) -> Iterator[Mapping[int, int]]:
        """Servers that two of them may be renamed to; others keep their names."""
        carried = self._links.carried
        if len(servers) != 2 or (servers[0], servers[1]) not in carried:
            yield {server: server for server in servers}
            return
        for pair, light in carried.items():
            if light <= carried[servers[0], servers[1]]:
                yield dict(zip(servers, pair, strict=True))
                yield dict(zip(servers, reversed(pair), strict=True))

    def solve(self, solver: cp_model.CpSolver, should_stop: ShouldStop) -> None:
        """Tell `should_stop` ever better choices, until there are none or time is over.

        One search with the whole linear relaxation finds better ones than several that divide the time. Probing and
        the search for symmetry would take most of a short time.
        """
        solver.parameters.cp_model_probing_level = solver.parameters.symmetry_level = 0
        solver.parameters.linearization_level, solver.parameters.num_workers = 2, 1
        callback = _OnSolution(self, should_stop)
        solver.solve(self.cp, callback)
        if callback.error is not None:
            raise callback.error

    def pattern(self, value: Callable[[cp_model.IntVar], int]) -> Pattern:
        """Choices of a solution, on servers."""
        chosen = [way for way, literal in self._literals.items() if value(literal)]
        blocks: dict[int, list[tuple[int, int]]] = {}
        left = dict(self._rooms)
        for (job, ranks, server), literal in self._parts.items():
            if value(literal):
                blocks.setdefault(job, []).append((server, ranks))
                left[server] -= ranks
        whole = [way for way in chosen if len(way.division) == 1]
        pattern = dict(in_one_server_each(self._problem, whole, self._flow.fillings(value), left))
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


class _OnSolution(cp_model.CpSolverSolutionCallback):
    """Hands the choices of each solution on, and stops the solver where it is told so."""

    def __init__(self, master: PairMaster, should_stop: ShouldStop) -> None:
        super().__init__()
        self._master, self._should_stop = master, should_stop
        self.error: BaseException | None = None

    def on_solution_callback(self) -> None:
        try:
            if self._should_stop(self._master.pattern(self.value)):
                self.stop_search()
        except BaseException as error:
            self.error = error
            self.stop_search()
