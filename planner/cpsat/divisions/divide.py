"""Value by logic-based Benders decomposition over divisions, where servers are alike but for their room.

The master chooses ways of all jobs that fill the servers; what circuits refuse of one job alone is refused on all
servers at once, and what is refused of all together, of these ways on any servers.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from planner.candidates.knapsack_bounds import SLACK
from planner.cpsat.divisions.master import Chosen, Master
from planner.cpsat.divisions.place import alone, together
from planner.cpsat.divisions.ways import CountsOf, Division, JobWays, Way, ways_of
from planner.cpsat.search import Search
from planner.cpsat.step2.fix_configurations import step_two_limits
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.problem import Problem
from planner.model.clock import Clock

MOST_WAYS = 20_000
"""of all jobs"""
DEPTHS = (0.0005, 0.002, 0.01, 0.05, 1.0)
"""how far below the relaxation's bound, as a fraction, the value of plans may be whose rows take part"""
Stands = dict[tuple[Demand, Division], bool]
"""whether a way stands alone, or was not refuted in time"""


def may_divide(search: Search) -> bool:
    """True where servers are alike, all jobs are listed and nobody may stay."""
    has_counts = plugin_of(search.full.cluster.fabric).step_one.counts_of(search.full.cluster) is not None
    return has_counts and not any(options.can_stay or not options.is_listed for options in search.full.options)


def divide(search: Search, clock: Clock) -> bool:
    """Maximize value over divisions; true if the best plan is proven optimal over all candidates.

    Ever more rows take part: those that a plan of at least a threshold may use, until the best one reaches it.
    """
    counts_of = plugin_of(search.full.cluster.fabric).step_one.counts_of(search.full.cluster)
    if counts_of is None or not may_divide(search):
        return False
    known = _Known()
    for depth in DEPTHS:
        value, threshold = search.value("value"), (1 - depth) * search.knapsack.bound
        if search.bound is not None and search.bound < threshold:
            continue
        least = threshold if value is None else max(value, threshold)
        jobs = _ways(search, counts_of, least, clock)
        divided = None if jobs is None else _Divide(search, jobs, least, clock, known)
        if divided is None or not divided.solve():
            return False
        if search.reaches_bound(divided.rounding) or least == value:
            return True
    return False


def _ways(search: Search, counts_of: CountsOf, least: float, clock: Clock) -> list[JobWays] | None:
    """Ways that a plan of at least so much value may use; None where these are too many."""
    problem, jobs, number = search.full, list[JobWays](), 0
    rooms = sorted(_rooms(problem).elements(), reverse=True)
    for j, (options, bounds) in enumerate(zip(problem.options, search.knapsack.rows, strict=True)):
        ways = ways_of(j, options, bounds, least - SLACK * abs(least), counts_of, rooms)
        if ways is None or clock.is_over:
            return None
        jobs.append(ways)
        number += len(ways)
    return jobs if number <= MOST_WAYS else None


def _rooms(problem: Problem) -> Counter[int]:
    """Servers by their healthy devices."""
    cluster = problem.cluster
    return Counter(len(cluster.healthy_slots(server)) for server in range(cluster.fabric.num_servers))


@dataclass
class _Known:
    """What circuits refused so far, of rows of whatever value."""

    stands: Stands = field(default_factory=dict)
    alone: list[Way] = field(default_factory=list)
    together: list[tuple[Way, ...]] = field(default_factory=list)

    def refuse(self, jobs: Sequence[JobWays]) -> None:
        """The same of these, which were listed anew: as many others are open."""
        for ways in self.together:
            _open_others(jobs, ways)
        while again := [way for way in self.alone if jobs[way.job].is_open(way)]:
            for way in again:
                jobs[way.job].refuse(way)


def _open_others(jobs: Sequence[JobWays], ways: Sequence[Way]) -> None:
    """Rows that may stand where these ways do not stand together."""
    for way in ways:
        if len(way.division) > 1:
            jobs[way.job].open_next(way)


@dataclass
class _Divide:
    """One search over divisions for plans of at least so much value."""

    search: Search
    jobs: Sequence[JobWays]
    least: float
    clock: Clock
    known: _Known
    rounding: float = 0.0
    _set_aside: list[tuple[Way, ...]] = field(default_factory=list)
    """that were neither placed nor refuted in time"""
    _last: tuple[Way, ...] = ()
    """that the master chose"""

    def solve(self) -> bool:
        """True if no plan of at least `least` is better than the best one."""
        self.known.refuse(self.jobs)
        while not (self.clock.is_over or self.search.is_stopped):
            master = Master(self.jobs, _rooms(self.search.full))
            self.rounding = master.term.rounding
            if not master.term.is_fine:
                return False
            for ways in (*self.known.together, *self._set_aside):
                master.forbid(ways)
            master.hint(self._last)
            chosen = master.solve(step_two_limits(self.search, self.clock).solver())
            if chosen is None:
                return False
            self._last = chosen.ways
            if not self._set_aside:
                self.search.tighten("value", max(chosen.bound, self.least, self.search.value("value") or self.least))
            if self.search.reaches_bound(self.rounding):
                return True
            if chosen.bound < self.least or self._is_best(chosen):
                return not self._set_aside
            refused = [way for way in chosen.ways if not self._stands_alone(way)]
            for way in refused:
                self.jobs[way.job].refuse(way)
            self.known.alone += refused
            if not refused:
                self._place(chosen)
        return False

    def _is_best(self, chosen: Chosen) -> bool:
        value = self.search.value("value")
        return value is not None and value >= chosen.bound - self.rounding

    def _stands_alone(self, way: Way) -> bool:
        if len(way.division) == 1:
            return True
        key, stands = (self.search.full.options[way.job].shapes[way.row], way.division), self.known.stands
        if key not in stands:
            stands[key] = not alone(self.search, way, self.clock).nogood
        return stands[key]

    def _place(self, chosen: Chosen) -> None:
        """The best plan so far becomes that of these ways, or they are forbidden together."""
        realized = together(self.search, chosen.ways, self.clock)
        if realized.assignments is not None:
            self.search.adopt("value", realized.assignments, "divisions")
            return
        (self._set_aside if realized.is_undecided else self.known.together).append(chosen.ways)
        _open_others(self.jobs, chosen.ways)
