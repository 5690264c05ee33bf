"""Ways of all jobs over servers that fibers join: the servers of jobs that need these by name, others by arc flow.

What jobs with light between servers leave of each is filled with parts that need devices alone, wherever these lie; so
only the former have a variable for each server, and pairs of servers share the light that their fibers carry. Parts of
one job that meet in a server are a division of it too, of the same value.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from math import floor, isfinite

from ortools.sat.python import cp_model

from planner.cpsat.divisions.filled_servers import FilledServers, parts_of
from planner.cpsat.divisions.joined_light import JoinedLight, light_across, light_of
from planner.cpsat.divisions.joined_servers import (
    BOTH_WAYS,
    PAIR,
    JoinedServers,
    Needs,
    OnServers,
    Places,
    Servers,
    is_dark,
)
from planner.cpsat.divisions.joined_sets import fill_joined_sets
from planner.cpsat.divisions.ways import JobWays, Way, division_of
from planner.cpsat.divisions.whole import in_filled_servers
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.relaxation import relaxed
from planner.formulation.step_two import FOUND
from planner.formulation.terms import Term, sum_of
from planner.formulation.variables import Pair, total

ShouldStop = Callable[[Pattern], bool]
"""is told choices better than those before; whether to look for no more"""
SEARCHES = ("quick_restart", "no_lp")
"""of CP-SAT: with the whole linear relaxation, as the parameters say, and with none"""
RELAXED_SHARE = 0.3
"""of the time, for the linear relaxation alone"""
MOST_NAMES = 200
"""servers to which those of choices that exclude each other are renamed"""


class JoinedMaster:
    r"""The open ways of all jobs on the servers of a problem, for plans worth `least` or more.

    Where every row that a plan of some value may use has a way in it, and `PairLight.is_all`, its bound holds for such
    plans: each server with c blocks of a job sends and receives at least $L(c)$ wavelengths, over fibers to its others.
    So half of both is at least that, and such halves of all jobs are at most what the fibers of a pair carry one way.
    What is not open may stand where an open way of no less value does not: so nothing is left out because no plan is
    worth as much.
    """

    def __init__(self, problem: Problem, jobs: Sequence[JobWays], servers: JoinedServers, least: float = 0.0) -> None:
        self.cp, self._problem, self._links, self._num_jobs = cp_model.CpModel(), problem, servers.links, len(jobs)
        self._rooms = {s: len(problem.cluster.lit_slots(s)) for s in range(problem.cluster.fabric.num_servers)}
        self._literals: dict[Way, cp_model.IntVar] = {}
        self._parts: dict[tuple[int, int, int], cp_model.IntVar] = {}
        """by job, ranks and server: the job needs fibers and has so many ranks there"""
        self._needs: dict[Way, Needs] = {}
        """of jobs that need fibers"""
        self._places: dict[Way, Places] = {}
        """of those, where they may lie"""
        self._lit: dict[int, cp_model.IntVar] = {}
        """by job: it needs fibers"""
        self._lying: dict[OnServers, cp_model.IntVar] = {}
        self._servers, self._least = servers, least
        self._light: dict[Pair, list[cp_model.LinearExprT]] = {pair: [] for pair in self._links.carried}
        for job in jobs:
            self._add(job)
        for pair, carried in self._links.carried.items():
            self.cp.add(total(self._light[pair]) <= BOTH_WAYS * carried)
        self._filling = self._filled(is_tight=least > 0)
        if least > 0 and len(self._servers.joined_sets) > 1:
            fill_joined_sets(self.cp, self._servers, self._rooms, self._literals, self._needs, self._lying)
        self.term = self._value(jobs)

    def _add(self, job: JobWays) -> None:
        """At most one way of a job, of those that some servers have the fibers for."""
        lit = list[Way]()
        for way in job.open():
            shape = job.options.shapes[way.row]
            if len(way.division) > 1 and not is_dark(self._links, way.division, shape):
                places = self._servers.places(way.division, shape)
                if not places:
                    continue
                self._needs[way], self._places[way] = self._servers.needs(way.division, shape), places
                lit.append(way)
            self._literals[way] = self.cp.new_bool_var("")
        literals = [self._literals[way] for way in job.open() if way in self._literals]
        if job.options.must_run:
            self.cp.add_exactly_one(literals)
        else:
            self.cp.add_at_most_one(literals)
        if lit:
            self._lay(job, lit)

    def _lay(self, of: JobWays, ways: Sequence[Way]) -> None:
        """The parts of a job that needs fibers lie on servers whose fibers carry the light of its way."""
        cp, job, sizes = self.cp, of.job, sorted({ranks for way in ways for ranks in way.division})
        self._lit[job] = cp.new_bool_var("")
        cp.add(sum(self._literals[way] for way in ways) == self._lit[job])
        for ranks in sizes:
            here = [cp.new_bool_var("") for _ in self._rooms]
            self._parts |= {(job, ranks, server): literal for server, literal in zip(self._rooms, here, strict=True)}
            cp.add(sum(here) == sum(way.division.count(ranks) * self._literals[way] for way in ways))
        lying, of_needs = dict[OnServers, cp_model.IntVar](), dict[tuple[int, Needs], list[Way]]()
        for way in ways:
            of_needs.setdefault((len(way.division), self._needs[way]), []).append(way)
        for (_, needs), those in sorted(of_needs.items(), key=lambda item: item[0]):
            lying |= self._lie_on(job, needs, those)
        for server in self._rooms:
            touching = [literal for on, literal in lying.items() if server in on.servers]
            cp.add(sum(self._parts[job, ranks, server] for ranks in sizes) == total(touching))
        if self._least > 0:
            self._arrange(job, ways, lying)
        self._lying |= lying
        parts = {(ranks, server): self._parts[job, ranks, server] for ranks in sizes for server in self._rooms}
        has_several = any(len(on.servers) > PAIR for on in lying)
        least, most = light_of(self._links, of, sizes) if has_several else ({}, {})
        places = {way: (self._needs[way], self._places[way]) for way in ways if len(way.division) > PAIR}
        across = light_across(self._servers, of, places)
        for pair, light in JoinedLight(cp, self._servers, lying, parts, least, across, most).light_up():
            self._light[pair].append(light)

    def _arrange(self, job: int, ways: Sequence[Way], lying: Mapping[OnServers, cp_model.IntVar]) -> None:
        """A server has so many ranks only where some way of the job may be arranged so."""
        may_have: dict[tuple[int, int], set[OnServers]] = {}
        for way in {(self._needs[way], id(self._places[way])): way for way in ways}.values():
            for on, place in self._places[way].items():
                lying_on = OnServers(job, self._needs[way], on)
                for key in ((ranks, server) for server, numbers in place.numbers.items() for ranks in numbers):
                    may_have.setdefault(key, set()).add(lying_on)
        for (of, ranks, server), part in self._parts.items():
            if of == job:
                self.cp.add(part <= total([lying[on] for on in sorted(may_have.get((ranks, server), ()))]))

    def _lie_on(self, job: int, needs: Needs, ways: Sequence[Way]) -> dict[OnServers, cp_model.IntVar]:
        """Ways of a job that need the same lie on servers that have a place for them."""
        of_places: dict[frozenset[Servers], list[cp_model.IntVar]] = {}
        for way in ways:
            of_places.setdefault(frozenset(self._places[way]), []).append(self._literals[way])
        everywhere = sorted({on for places in of_places for on in places})
        there = {on: self.cp.new_bool_var("") for on in everywhere}
        self.cp.add(sum(there.values()) == sum(self._literals[way] for way in ways))
        for places, literals in of_places.items():
            if len(places) < len(there):
                self.cp.add(sum(literals) <= sum(there[on] for on in everywhere if on in places))
        return {OnServers(job, needs, on): literal for on, literal in there.items()}

    def _filled(self, *, is_tight: bool) -> FilledServers:
        """What jobs that need fibers leave of each server is filled with the others."""
        wanted = parts_of({way: literal for way, literal in self._literals.items() if way not in self._needs})
        return FilledServers(self.cp, self._rooms, self._parts, wanted, is_tight=is_tight)

    def _value(self, jobs: Sequence[JobWays]) -> Term:
        """The most value, and of plans worth as much one in which few jobs need fibers: circuits are soon realised."""
        literals = self._literals
        parts = [[(way.value, literals[way]) for way in job.open() if way in literals] for job in jobs]
        term = sum_of(parts, is_maximized=True)
        self.cp.maximize(total([(len(jobs) + 1) * term.expression, *(-literal for literal in self._lit.values())]))
        return term

    def hint(self, pattern: Pattern) -> None:
        """Start from these choices, as far as they are ways."""
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        ways = {j: way for j, choice in pattern.items() if (way := self._way(j, choice)) is not None}
        lit = {j: [*dict(pattern[j].blocks)] for j, way in ways.items() if way in self._needs}
        lying = {OnServers(j, self._needs[ways[j]], tuple(sorted(on))) for j, on in lit.items()}
        parts = {key for j in lit for key in self._parts_of(j, pattern[j])}
        for literals, chosen in (
            (self._literals, {*ways.values()}), (self._lit, {*lit}), (self._lying, lying), (self._parts, parts),
        ):  # fmt: skip
            for key, literal in literals.items():
                self.cp.add_hint(literal, key in chosen)
        named, others = dict[int, list[int]](), dict[int, list[int]]()
        for j in ways:
            part, on = self._problem.options[j].shapes[pattern[j].row].part, named if j in lit else others
            for server, count in pattern[j].blocks:
                on.setdefault(server, []).append(count * part)
        self._filling.hint(self.cp, named, others)

    def _way(self, job: int, choice: Choice) -> Way | None:
        """The way of a choice, or of the most valuable row that is divided so."""
        division = division_of(self._problem.options[job], choice)
        ways = [way for way in self._literals if way.job == job and way.division == division]
        return max(ways, key=lambda way: (way.row == choice.row, way.value), default=None)

    def forbid(self, pattern: Pattern, jobs: Collection[int]) -> None:
        """These jobs of a pattern exclude each other, those that need fibers where they lie and on any servers whose
        fibers carry no more light, and so do rows that ask for as much or more."""
        wide = [self._as_wide(j, pattern[j]) for j in jobs]
        parts = [key for j in jobs if self.needs_fibers(j, pattern[j]) for key in self._parts_of(j, pattern[j])]
        for new_name in islice(self._servers.renamed(tuple(sorted({s for *_, s in parts}))), MOST_NAMES):
            lying = [self._parts[job, ranks, new_name[server]] for job, ranks, server in parts]
            self.cp.add_bool_or([~literal for literal in (*wide, *lying)])

    def needs_fibers(self, job: int, choice: Choice) -> bool:
        """Whether parts of a job exchange light between servers."""
        options = self._problem.options[job]
        division, shape = division_of(options, choice), options.shapes[choice.row]
        return len(division) > 1 and not is_dark(self._links, division, shape)

    def _as_wide(self, job: int, choice: Choice) -> cp_model.IntVar:
        """Literal: the job is divided as in a choice, and has a row that asks for as much or more."""
        shapes, division = self._problem.options[job].shapes, division_of(self._problem.options[job], choice)
        ways = [way for way in self._literals if way.job == job and way.division == division]
        least, wide = shapes[choice.row], self.cp.new_bool_var("")
        literals = [self._literals[way] for way in ways if least.needs_no_more_than(shapes[way.row])]
        self.cp.add(sum(literals) == wide)
        return wide

    def solve(self, solver: cp_model.CpSolver, should_stop: ShouldStop) -> float:
        """Tell `should_stop` ever better choices, until there are none or time is over; no choices are worth more than
        what is returned.

        One search with the whole linear relaxation, and where there are two workers one with none, find better
        ones than more that divide the time. Probing and the search for symmetry would take most of a short time. Of
        plans worth as much, the one in which the fewest jobs need fibers is not searched for to the end.
        """
        parameters = solver.parameters
        most = float("inf")
        if self._least > 0:
            steps = self.term.scale.to_int(self._least) - self._num_jobs - 1
            most = self._relaxed(steps, RELAXED_SHARE * parameters.max_time_in_seconds)
            if most < self._least - self.term.rounding:
                return most
            self.cp.add(self.term.expression >= steps)
        parameters.cp_model_probing_level = parameters.symmetry_level = 0
        parameters.linearization_level, parameters.absolute_gap_limit = 2, self._num_jobs + 1
        parameters.num_workers = max(1, min(parameters.num_workers, len(SEARCHES)))
        if parameters.num_workers > 1:
            parameters.subsolvers.extend(SEARCHES)
        callback, bounds = _OnSolution(self, should_stop), [float("inf")]
        solver.best_bound_callback = bounds.append
        status = solver.solve(self.cp, callback)
        if callback.error is not None:
            raise callback.error
        if status == cp_model.INFEASIBLE:
            return float("-inf")
        return min(most, self._value_at(solver.best_objective_bound if status in FOUND else min(bounds)))

    def _relaxed(self, steps: int, time_limit_s: float) -> float:
        """Most value of the linear relaxation, and a step for its rounding; infinite where time does not suffice. What
        it says of every solution of so many steps of value is fixed."""
        found = relaxed(self.cp, time_limit_s)
        if found is None:
            return float("inf")
        found.fix(self.cp, (self._num_jobs + 1) * (1 - steps))
        return self._value_at(1 - found.least)

    def _value_at(self, most: float) -> float:
        """Most value where the objective is at most so much: the number of jobs that need fibers, at most all, is taken
        off that many steps and one for each step of value."""
        return self.term.to_float((floor(most) + self._num_jobs) // (self._num_jobs + 1)) if isfinite(most) else most

    def pattern(self, value: Callable[[cp_model.IntVar], int]) -> Pattern:
        """Choices of a solution, on servers."""
        chosen = [way for way, literal in self._literals.items() if value(literal)]
        blocks: dict[int, list[tuple[int, int]]] = {}
        left = dict(self._rooms)
        for (job, ranks, server), literal in self._parts.items():
            if value(literal):
                blocks.setdefault(job, []).append((server, ranks))
                left[server] -= ranks
        elsewhere = [way for way in chosen if way not in self._needs]
        pattern = dict(in_filled_servers(self._problem, elsewhere, self._filling.fillings(value), left))
        for way in chosen:
            if way in self._needs:
                part = self._problem.options[way.job].shapes[way.row].part
                lying = tuple((server, ranks // part) for server, ranks in sorted(blocks[way.job]))
                pattern[way.job] = Choice(way.row, False, lying)
        return pattern

    def _parts_of(self, job: int, choice: Choice) -> list[tuple[int, int, int]]:
        """Keys of the parts of a job; none where it has others."""
        part = self._problem.options[job].shapes[choice.row].part
        keys = [(job, count * part, server) for server, count in choice.blocks]
        return keys if all(key in self._parts for key in keys) else []


class _OnSolution(cp_model.CpSolverSolutionCallback):
    """Hands the choices of each solution on, and stops the solver where it is told so."""

    def __init__(self, master: JoinedMaster, should_stop: ShouldStop) -> None:
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
