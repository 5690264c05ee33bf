"""Value by logic-based Benders decomposition over all divisions, where servers differ in what fibers join them.

Where few servers are joined, most divisions have no place, which the knapsack does not know. The master places divided
jobs on servers by name, with the least light of each; what circuits refuse is refused with all that asks for as much.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from planner.cpsat.divisions.joined_master import JoinedMaster
from planner.cpsat.divisions.joined_servers import JoinedServers
from planner.cpsat.divisions.pairs import Judge, ways_of_jobs
from planner.cpsat.divisions.reasons import Jobs, reasons_of
from planner.cpsat.divisions.ways import Division, JobWays, RowNeeds, division_of
from planner.cpsat.divisions.whole import may_pack
from planner.cpsat.search import Search, pattern_of
from planner.cpsat.step2.fix_configurations import step_two_limits
from planner.cpsat.step2.realize import realize
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Choice, Pattern
from planner.formulation.step_two import StepTwoLimits
from planner.model.clock import Clock

MOST_SERVERS = 8
"""of a rack: sets of servers are 2 to that power"""
DEPTHS = (0.0005, 0.001, 0.002, 0.003, 0.0045, 0.007, 0.01, 0.015, 0.025, 1.0)
"""how far below the relaxation's bound, as a fraction, the value of plans may be whose rows take part"""
LAST_DEPTHS = 2
"""of these, which are never passed over"""
MOST_ROWS = 20_000
"""open rows of all jobs"""
VAIN_SHARE = 0.3
"""of the time, for rounds in a row that circuits end with neither a better plan nor a lower bound"""
ROWS_SHARE = 0.1
"""of the time left, or of the work of a search where work is limited, to try other rows of a job that circuits refuse
alone"""
Refused = dict[tuple[int, Division], list[Demand]]
"""demands of rows that circuits refused beside others, by job and division"""
Forbidden = tuple[Pattern, Jobs]
"""choices, and jobs of them that exclude each other"""


def servers_to_join(search: Search) -> JoinedServers | None:
    """Servers of a rack of few of them whose links are all light, where there is a plan to start from."""
    cluster = search.full.cluster
    links, number = plugin_of(cluster.fabric).step_one.pair_light(cluster), cluster.fabric.num_servers
    if links is None or not links.is_all or number > MOST_SERVERS or not may_pack(search) or search.assignments is None:
        return None
    return JoinedServers(links, range(number))


def divide_joined(search: Search, servers: JoinedServers, clock: Clock) -> bool:
    """Maximize value over all divisions; true if the best plan is proven optimal over all candidates.

    Ever more rows take part: those that a plan of at least a threshold may use, until the best one reaches it.
    """
    return _Joined(search, servers, clock).solve()


@dataclass
class _Joined:
    """One search over divisions, for plans of ever less value."""

    search: Search
    servers: JoinedServers
    clock: Clock
    jobs: Sequence[JobWays] = ()
    """those that a plan of at least `least` may use"""
    least: float = 0.0
    _is_far: bool = False
    """whether the linear relaxation alone says that no plan is worth `least`: the next threshold is then passed over"""
    _refused: Refused = field(default_factory=dict)
    _forbidden: list[Forbidden] = field(default_factory=list)
    _set_aside: list[Forbidden] = field(default_factory=list)
    """those that were neither realised nor refuted in time"""

    def solve(self) -> bool:
        """True if no plan is better than the best one."""
        search, depths = self.search, deque(DEPTHS)
        while depths:
            value, threshold = search.value("value"), (1 - depths.popleft()) * search.knapsack.bound
            assert value is not None
            if search.bound is not None and search.bound <= threshold:
                continue
            if not self._open(max(value, threshold)):
                return False
            if self._is_best():
                return True
            if self.least == search.value("value") or self.clock.is_over:
                return False
            if self._is_far and len(depths) > LAST_DEPTHS:
                depths.popleft()
        return False

    def _open(self, least: float) -> bool:
        """Rows that a plan of at least so much value may use take part; false where these are too many."""
        search = self.search
        jobs = ways_of_jobs(search, least, self.servers.links, search.full.cluster.fabric.num_servers)
        self.least, self.jobs = least, jobs or ()
        return jobs is not None

    def _is_best(self) -> bool:
        """True if no plan is better than the best one, which is worth `least` or more."""
        search, judge = self.search, Judge(self.search, self.clock)
        assert search.assignments is not None
        whole_s = self.clock.left_s
        gained_s: float | None = None
        while not (self.clock.is_over or search.is_stopped):
            value = search.value("value")
            assert value is not None
            master = self._master() if value <= self.least or self._open(value) else None
            if master is None:
                return False
            master.hint(pattern_of(search.full, search.assignments))
            judge.refused = None
            limits = replace(step_two_limits(search, self.clock), time_limit_s=self.clock.left_s)
            before = search.bound, search.value("value")
            bound = master.solve(limits.solver(), lambda pattern: judge.refuses(pattern) or self._has_halved())
            self._is_far = float("-inf") < bound < self.least
            if not self._set_aside:
                search.tighten("value", max(bound, self.least, search.value("value") or self.least))
            if search.reaches_bound(master.term.rounding):
                return True
            if judge.refused is None and self._has_halved():
                continue
            if judge.refused is None or bound < self.least:
                if not self._decide(master, bound):
                    return False
                continue
            if gained_s is None or before != (search.bound, search.value("value")):
                gained_s = self.clock.left_s
            if gained_s - self.clock.left_s > VAIN_SHARE * whole_s:
                return False
            self._refuse(judge, master)
        return False

    def _has_halved(self) -> bool:
        """Whether the best plan leaves half of what was searched or less: fewer rows then take part."""
        value, bound = self.search.value("value"), self.search.bound
        assert value is not None
        return bound is not None and value > self.least and 2 * value >= self.least + bound

    def _master(self) -> JoinedMaster | None:
        """The master without what was refused; None where it would be too large or too coarse."""
        for job in self.jobs:
            if not job.open_uncovered(_Asks(job, self.servers, self._refused), self.clock):
                return None
        if sum(1 for job in self.jobs for _ in job.open()) > MOST_ROWS:
            return None
        master = JoinedMaster(self.search.full, self.jobs, self.servers, self.least)
        for pattern, jobs in self._forbidden:
            if self.clock.is_over:
                return None
            master.forbid(pattern, jobs)
        return master if master.term.is_fine else None

    def _refuse(self, judge: Judge, master: JoinedMaster) -> None:
        """Jobs that need fibers exclude each other as they lie, whatever needs devices alone; what step 2 did not
        refute in time is set aside."""
        assert judge.refused is not None
        pattern, jobs = judge.refused
        reasons = self._reasons(pattern, jobs, master, step_two_limits(self.search, self.clock))
        for reason in reasons:
            self._forbid(pattern, reason)
            if len(reason) == 1:
                self._refuse_rows(reason[0], pattern[reason[0]])
        if not reasons:
            self._forbid(pattern, tuple(j for j in jobs if len(pattern[j].blocks) > 1))
            self._set_aside.append(self._forbidden[-1])

    def _refuse_rows(self, job: int, choice: Choice) -> None:
        """Circuits refuse a choice of a job alone: its rows that are so divided are tried there too, the most valuable
        first, until one of them stands. Each one refused would otherwise cost a search of the master."""
        of_job, options = self.search.full.options[job], self.search.options
        shapes, division = of_job.shapes, division_of(of_job, choice)
        clock = options.counted(self.clock.within(ROWS_SHARE * self.clock.left_s))
        work = None if options.deterministic_limit is None else ROWS_SHARE * options.deterministic_limit
        for row in self.jobs[job].rows_of(division):
            refused = self._refused[job, division]
            if any(each.needs_no_more_than(shapes[row]) for each in refused):
                continue
            blocks = tuple((s, count * shapes[choice.row].part // shapes[row].part) for s, count in choice.blocks)
            limits = replace(step_two_limits(self.search, clock), time_limit_s=clock.left_s, deterministic_limit=work)
            if clock.is_over or not realize(self.search.full, {job: Choice(row, False, blocks)}, limits).nogood:
                return
            self._forbid({job: Choice(row, False, blocks)}, (job,))

    def _reasons(self, pattern: Pattern, jobs: Jobs, master: JoinedMaster, limits: StepTwoLimits) -> Sequence[Jobs]:
        named = tuple(j for j in jobs if master.needs_fibers(j, pattern[j]))
        return reasons_of(self.search.full, pattern, named, limits, self.clock)

    def _forbid(self, pattern: Pattern, jobs: Jobs) -> None:
        self._forbidden.append((pattern, jobs))
        for j in jobs:
            options = self.search.full.options[j]
            self._refused.setdefault((j, division_of(options, pattern[j])), []).append(options.shapes[pattern[j].row])

    def _decide(self, master: JoinedMaster, bound: float) -> bool:
        """Once no others may be better, choices that were set aside are realised or refuted in the time that is left;
        true if there were some and all of them are.

        Where work is limited instead of time, the same work would end the same way.
        """
        search, value = self.search, self.search.value("value")
        assert value is not None
        is_last = bound < self.least or value >= bound - master.term.rounding
        if not (self._set_aside and is_last) or search.options.deterministic_limit is not None:
            return False
        for number, forbidden in reversed([*enumerate(self._set_aside, start=1)]):
            limits = replace(step_two_limits(search, self.clock), time_limit_s=self.clock.left_s / number)
            pattern, jobs = forbidden
            realized = realize(search.full, pattern, limits)
            reasons = self._reasons(pattern, jobs, master, limits) if realized.nogood else ()
            if realized.is_undecided or (realized.nogood and not reasons):
                return False
            self._set_aside.remove(forbidden)
            self._forbidden.remove(forbidden)
            for reason in reasons:
                self._forbid(pattern, reason)
            if realized.assignments is not None:
                search.adopt("value", realized.assignments, "joined")
        return True


class _Asks:
    """What rows of one job ask for, and what of them was refused."""

    def __init__(self, job: JobWays, servers: JoinedServers, refused: Refused) -> None:
        self._job, self._servers, self._refused = job, servers, refused

    def __call__(self, division: Division, row: int) -> RowNeeds | None:
        shape = self._job.options.shapes[row]
        asked, refused = self._servers.asks(division, shape), self._refused.get((self._job.job, division), ())
        if asked is None or not refused:
            return asked
        return asked._replace(refused=frozenset(i for i, each in enumerate(refused) if each.needs_no_more_than(shape)))
