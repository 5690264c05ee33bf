"""Plans in which every job lies in one server or in two: most of the value that dividing jobs adds, soon found.

Where many jobs fill few servers, all divisions are too many to choose from. But what is left in servers whose jobs lie
there alone is little, and a job over two of them uses it.
"""

from dataclasses import dataclass, replace

from planner.candidates.knapsack_bounds import SLACK
from planner.cpsat.divisions.joined_master import JoinedMaster
from planner.cpsat.divisions.joined_servers import JoinedServers
from planner.cpsat.divisions.ways import JobWays, ways_of
from planner.cpsat.divisions.whole import may_pack
from planner.cpsat.search import Search, pattern_of
from planner.cpsat.step2.fix_configurations import step_two_limits
from planner.cpsat.step2.realize import realize
from planner.fabrics import plugin_of
from planner.fabrics.pattern import Pattern
from planner.formulation.step_one import PairLight
from planner.model.clock import Clock

PAIR = 2
"""servers of a job at most"""
DEPTHS = (0.005, 0.02)
"""how far below the relaxation's bound, as a fraction, the value of plans may be whose rows take part"""
MAX_ROUNDS = 8
"""of one depth: each ends with choices that circuits refuse"""
SOLVE_SHARE = 0.9
"""of the time left, for one round: few of them are refused"""


def pack_pairs(search: Search, clock: Clock) -> bool:
    """The best plan found whose jobs lie in at most two servers each becomes the best one, if it is better; true if it
    meets the bound.

    Ever more rows take part, until the value reaches the least of plans whose rows do.
    """
    links = plugin_of(search.full.cluster.fabric).step_one.pair_light(search.full.cluster)
    if links is None or not links.carried or not may_pack(search) or search.assignments is None:
        return False
    servers = JoinedServers(links, range(search.full.cluster.fabric.num_servers))
    for depth in DEPTHS:
        value, threshold = search.value("value"), (1 - depth) * search.knapsack.bound
        assert value is not None
        if value >= threshold and depth > DEPTHS[0]:
            return False
        jobs = ways_of_jobs(search, max(value, threshold), links, PAIR)
        if jobs is None or clock.is_over or search.is_stopped:
            return False
        master = JoinedMaster(search.full, jobs, servers)
        if not master.term.is_fine:
            return False
        _improve(search, master, clock)
        if search.reaches_bound(master.term.rounding):
            return True
    return False


def ways_of_jobs(search: Search, least: float, links: PairLight, most_servers: int) -> list[JobWays] | None:
    """Rows that a plan of at least so much value may use, each on so many servers at most; None where these are too
    many."""
    jobs, cluster = list[JobWays](), search.full.cluster
    rooms = sorted((len(cluster.lit_slots(s)) for s in range(cluster.fabric.num_servers)), reverse=True)[:most_servers]
    for j, (options, bounds) in enumerate(zip(search.full.options, search.knapsack.rows, strict=True)):
        ways = ways_of(j, options, bounds, least - SLACK * abs(least), links.counts, rooms)
        if ways is None:
            return None
        jobs.append(ways)
    return jobs


def _improve(search: Search, master: JoinedMaster, clock: Clock) -> None:
    """Ever better plans whose circuits are realised, starting from the best one so far.

    Choices that circuits refuse end a round: the next one does without them.
    """
    assert search.assignments is not None
    judge = Judge(search, clock)
    for _ in range(MAX_ROUNDS):
        master.hint(pattern_of(search.full, search.assignments))
        limits = replace(step_two_limits(search, clock), time_limit_s=SOLVE_SHARE * clock.left_s)
        judge.refused = None
        master.solve(limits.solver(), judge.refuses)
        if judge.refused is None or clock.is_over or search.is_stopped:
            return
        master.forbid(*judge.refused)


@dataclass
class Judge:
    """Realises choices that are worth more than the best plan, which then is theirs."""

    search: Search
    clock: Clock
    refused: tuple[Pattern, tuple[int, ...]] | None = None
    """choices that were not realised, and jobs of them that exclude each other"""
    is_undecided: bool = False
    """whether these were not refuted either"""

    def refuses(self, pattern: Pattern) -> bool:
        """True if choices are better than those of the best plan, but circuits refuse them."""
        search = self.search
        value, options = search.value("value"), search.full.options
        if value is not None and sum(float(options[j].value[each.row]) for j, each in pattern.items()) <= value:
            return False
        realized = realize(search.full, pattern, step_two_limits(search, self.clock))
        if realized.assignments is None:
            self.refused, self.is_undecided = (pattern, realized.nogood or tuple(pattern)), realized.is_undecided
            return True
        search.adopt("value", realized.assignments, "pairs")
        return False
