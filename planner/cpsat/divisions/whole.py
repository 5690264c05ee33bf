"""Plans in which every job lies in one server: where such jobs ask for nothing but devices, bin packing says all.

No job is divided and no circuits refuse it, so that such plans are soon found. Where jobs fit into servers the best of
them is often worth as much as the knapsack allows, and therefore the best of all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from planner.candidates.knapsack_bounds import SLACK
from planner.cpsat.divisions.arc_flow import ServerFilling
from planner.cpsat.divisions.master import Chosen, Master
from planner.cpsat.divisions.ways import JobWays, Way, ways_of
from planner.cpsat.search import Search
from planner.cpsat.step2.fix_configurations import step_two_limits
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Choice, Pattern, route_pattern
from planner.fabrics.problem import Problem
from planner.model.clock import Clock

DEPTHS = (0.0005, 0.002, 0.01, 0.05)
"""how far below the relaxation's bound, as a fraction, the value of plans may be whose rows take part"""
MOST_JOBS = 200
"""for which the most valuable ways are found in time"""


def may_pack(search: Search) -> bool:
    """True where jobs in one server ask for devices alone, are all listed and not too many, and nobody may stay."""
    cluster = search.full.cluster
    if len(search.full.options) > MOST_JOBS:
        return False
    return plugin_of(cluster.fabric).step_one.needs_devices_alone(cluster) and not any(
        options.can_stay or not options.is_listed for options in search.full.options
    )


def pack_whole(search: Search, clock: Clock) -> bool:
    """The best plan whose jobs lie in one server each becomes the best one, if it is better; true if none is better.

    Ever more rows take part, until the value reaches the least of plans whose rows do.
    """
    cluster = search.full.cluster
    rooms = {server: len(cluster.lit_slots(server)) for server in range(cluster.fabric.num_servers)}
    chosen = Chosen((), float("inf"))
    for depth in DEPTHS:
        value, threshold = search.value("value"), (1 - depth) * search.knapsack.bound
        jobs = _ways(search, threshold if value is None else max(value, threshold), max(rooms.values()))
        if jobs is None or clock.is_over or search.is_stopped:
            return False
        master = Master(jobs, Counter(rooms.values()))
        if not master.term.is_fine:
            return False
        master.hint(chosen.ways)
        found = master.solve(step_two_limits(search, clock).solver())
        if found is None:
            return False
        chosen = found
        _adopt(search, chosen, rooms)
        value = search.value("value")
        if search.reaches_bound(master.term.rounding):
            return True
        if value is not None and value >= threshold:
            return False
    return False


def _ways(search: Search, least: float, room: int) -> list[JobWays] | None:
    """Rows that a plan of at least so much value may use, each on one server; None where these are too many."""
    jobs = list[JobWays]()
    for j, (options, bounds) in enumerate(zip(search.full.options, search.knapsack.rows, strict=True)):
        ways = ways_of(j, options, bounds, least - SLACK * abs(least), _undivided, [room])
        if ways is None:
            return None
        jobs.append(ways)
    return jobs


def _undivided(demand: Demand) -> frozenset[int]:
    return frozenset()


def _adopt(search: Search, chosen: Chosen, rooms: dict[int, int]) -> None:
    """The ways on the servers that they fill, as the best plan if there is none of more value."""
    pattern = in_filled_servers(search.full, chosen.ways, chosen.fillings, rooms)
    found = route_pattern(search.full, pattern) if pattern else None
    if found is not None:
        search.adopt("value", found, "servers")


def in_filled_servers(
    problem: Problem, ways: Iterable[Way], fillings: Iterable[ServerFilling], rooms: Mapping[int, int]
) -> Pattern:
    """Ways on servers with so much room, by server, that are filled so: parts of one way apart where that is easy, else
    together."""
    left, servers = dict[int, list[int]](), dict[int, list[int]]()
    for server, room in rooms.items():
        left.setdefault(room, []).append(server)
    for filling in fillings:
        server = left[filling.room].pop()
        for ranks in filling.parts:
            servers.setdefault(ranks, []).append(server)
    pattern = dict[int, Choice]()
    for way in sorted(ways, key=lambda way: -len(way.division)):
        part, counts = problem.options[way.job].shapes[way.row].part, Counter[int]()
        for ranks in way.division:
            apart = next((server for server in servers[ranks] if server not in counts), servers[ranks][0])
            servers[ranks].remove(apart)
            counts[apart] += ranks // part
        pattern[way.job] = Choice(way.row, False, tuple(sorted(counts.items())))
    return pattern
