"""Level 1 for the value of a plan: solve small cores of the candidates first, and prove that they suffice."""

from collections.abc import Sequence
from dataclasses import replace

from planner.candidates.knapsack_bounds import SLACK, KnapsackBounds
from planner.cpsat.benders import LevelOutcome, optimize
from planner.cpsat.divisions.divide import divide, may_divide
from planner.cpsat.divisions.joined import divide_joined, servers_to_join
from planner.cpsat.divisions.pairs import pack_pairs
from planner.cpsat.divisions.whole import may_pack, pack_whole
from planner.cpsat.lns.neighbourhood import has_neighbourhoods, improve
from planner.cpsat.lns.racks import improve_racks
from planner.cpsat.packed_servers import pack_servers
from planner.cpsat.scarce import bound_scarce
from planner.cpsat.search import FEW_DEVICES, Search, pattern_of
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.heuristics.ruin_recreate import PATIENCE, Effort, recreated
from planner.model.clock import Clock
from planner.model.plan import Assignment
from planner.model.result import SolveOptions
from planner.sweep.over_ray import RayCluster

DEPTHS = (0.0005, 0.002, 0.01, 0.05)
"""how far below the relaxation's bound, as a fraction, each core reaches; then all candidates"""
MOST_COUNTS = 20_000
"""candidates x servers up to which step 1 is built"""
SHARE = 0.6
"""of the time for neighbourhoods, where there are any, before cores are solved"""
DIVIDE_SHARE = 0.85
"""of the time for divisions, where servers are alike"""
WHOLE_SHARE = 0.25
"""of the time for plans without jobs that span servers"""
PAIRS_SHARE, PAIRS_SHARE_OF_MANY = 0.15, 0.85
"""of the time for plans whose jobs span two servers at most; and in racks whose cores prove little"""
FIRST_JOINED_SHARE = 0.05
"""of the time left, for what divisions prove at once where servers differ in what fibers join them"""
RECREATE_SHARE, RECREATE_PATIENCE = 0.3, 120
"""of the time left, and rounds without a better plan, to recreate plans before all divisions there"""
BEGIN_S = 1e-4
"""seconds of each server, that reading a plan takes at most before it is recreated"""
LAST_PATIENCE = 2_000
"""rounds without a better plan, to recreate plans in the time that proofs leave"""
JOINED_SHARE = 0.9
"""of the time left, for all divisions where servers differ in what fibers join them"""
SERVERS_SHARE = 0.8
"""of the time for servers that the fabric packs"""
SCARCE_SHARE = 0.1
"""of the time for the bound by what servers have little of"""
CORES_SHARE = 0.6
"""of the time, where there are more than few devices: step 2 then rarely ends with all of them at once, and cores come
before divisions"""
SCATTERED_CORES_SHARE = 0.2
"""of the time for cores, where larger racks scatter jobs for light"""
SMALL = 300
"""so few candidates are solved at once"""


def optimize_value(search: Search, clock: Clock) -> LevelOutcome:
    """Maximize value; what time proofs leave makes the plan better by ruin and recreate."""
    clock = clock.until(lambda: search.is_near)
    outcome = _by_proofs(search, clock)
    if outcome.is_proven or outcome.is_infeasible:
        return outcome
    return LevelOutcome(is_proven=_recreate_in_few_rows(search, clock, LAST_PATIENCE))


def _by_proofs(search: Search, clock: Clock) -> LevelOutcome:
    """Value core by core.

    A core holds every row that some plan of at least its threshold may use (`KnapsackBounds`). Once the best plan
    reaches the threshold of a core solved to optimality, it is optimal over all candidates; until then the
    threshold is a bound.
    """
    knapsack = search.knapsack
    search.restrict(search.full)
    if knapsack.bound == float("-inf"):
        return LevelOutcome(is_proven=False, is_infeasible=True)
    if search.bound is None or knapsack.bound < search.bound:
        search.bound = knapsack.bound
        search.report("value", search.bound, "knapsack")
    if search.is_near or (clock.is_over and search.assignments is not None):
        return LevelOutcome(is_proven=False)
    is_small, is_alike = search.full.cluster.num_healthy <= FEW_DEVICES, may_divide(search)
    if _is_proven_by_packing(search, clock, is_small=is_small, is_alike=is_alike):
        search.restrict(knapsack.core(search.full, search.bound, _current_rows(search)))
        return LevelOutcome(is_proven=True)
    if search.ray is not None:
        _improve_far(search, search.ray, clock.within(SHARE * clock.left_s))
    elif search.assignments is not None and has_neighbourhoods(search.full):
        _improve(search, clock.within(SHARE * clock.left_s))
    if search.reaches("value"):
        return LevelOutcome(is_proven=True)
    if clock.is_over and search.assignments is not None:
        return LevelOutcome(is_proven=False)
    if is_small or not is_alike:
        return _solve_rest(search, knapsack, clock, is_small=is_small)
    outcome = _solve_cores(search, knapsack, clock.within(CORES_SHARE * clock.left_s))
    if outcome.is_proven or outcome.is_infeasible:
        return outcome
    search.restrict(search.full)
    return LevelOutcome(is_proven=_divide(search, clock))


def _is_proven_by_packing(search: Search, clock: Clock, *, is_small: bool, is_alike: bool) -> bool:
    """Plans whose jobs are packed or divided in few ways, and, of larger clusters, recreated before the longest of
    these; true if no plan is worth more."""
    if search.reaches("value") or _pack(search, clock):
        return True
    if is_small and is_alike:
        return _divide(search, clock.within(DIVIDE_SHARE * clock.left_s))
    if not is_small and _recreate_in_few_rows(search, clock.within(RECREATE_SHARE * clock.left_s), PATIENCE):
        return True
    return _pack_pairs(search, clock, is_small=is_small)


def _pack(search: Search, clock: Clock) -> bool:
    """A bound by what is scarce, then jobs in one server each, or servers as the fabric packs them; true if no plan is
    worth more."""
    bound_scarce(search, clock.within(SCARCE_SHARE * clock.left_s))
    if search.reaches("value"):
        return True
    if may_pack(search) and pack_whole(search, clock.within(WHOLE_SHARE * clock.left_s)):
        return True
    return pack_servers(search, clock.within(SERVERS_SHARE * clock.left_s))


def _pack_pairs(search: Search, clock: Clock, *, is_small: bool) -> bool:
    """Jobs over two servers at most, in small racks then over more; true if no plan is worth more."""
    share = PAIRS_SHARE if is_small else PAIRS_SHARE_OF_MANY
    if pack_pairs(search, clock.within(share * clock.left_s)):
        return True
    servers = servers_to_join(search) if is_small else None
    if servers is None:
        return False
    if divide_joined(search, servers, clock.within(FIRST_JOINED_SHARE * clock.left_s)):
        return True
    _recreate(search, clock.within(RECREATE_SHARE * clock.left_s), search.full, RECREATE_PATIENCE)
    return divide_joined(search, servers, clock.within(JOINED_SHARE * clock.left_s))


def _divide(search: Search, clock: Clock) -> bool:
    """Value over divisions; then what the best plan uses is in force, with all that may be better."""
    is_proven = divide(search, clock)
    assert search.bound is not None
    search.restrict(search.knapsack.core(search.full, search.bound, _current_rows(search)))
    return is_proven


def _solve_rest(search: Search, knapsack: KnapsackBounds, clock: Clock, *, is_small: bool) -> LevelOutcome:
    """Cores; where jobs are scattered for light these prove little in large racks, and leave time to recreate."""
    is_scattered = plugin_of(search.full.cluster.fabric).starts.are_scattered(search.full.cluster)
    share = SCATTERED_CORES_SHARE if is_scattered and not is_small else 1.0
    return _solve_cores(search, knapsack, clock.within(share * clock.left_s))


def _recreate_in_few_rows(search: Search, clock: Clock, patience: int) -> bool:
    """Ruin and recreate in few rows of each job, which stand for all, where time is left for more than to begin; all
    rows are in force where that finds a better plan. True if it reaches the bound."""
    fabric, before = search.full.cluster.fabric, search.assignments
    if before is not None and clock.left_s > BEGIN_S * fabric.num_servers and not (clock.is_over or search.is_stopped):
        short = plugin_of(fabric).starts.short_list(search.full, lambda: True)
        _recreate(search, clock, short or search.full, patience)
        if search.assignments is not before:
            search.restrict(search.full)
    return search.reaches("value")


def _recreate(search: Search, clock: Clock, listed: Problem, patience: int) -> None:
    """Ruin and recreate in listed rows from the best plan, until it reaches the bound, the clock is over or so many
    rounds found no better one."""
    assert search.assignments is not None
    assert search.bound is not None
    effort = Effort.of(search.options, clock, patience=patience)
    for found in recreated(listed, search.assignments, next(search.seeds), effort, search.bound):
        search.adopt("value", found, "recreate")


def _solve_cores(search: Search, knapsack: KnapsackBounds, clock: Clock) -> LevelOutcome:
    """Ever larger cores, until one of them proves the best plan optimal."""
    for threshold in _thresholds(search, knapsack):
        value = search.value("value")
        if value is not None and search.bound is not None and search.bound < threshold:
            continue
        search.floor = threshold if value is None else max(threshold, value)
        core = knapsack.core(search.full, search.floor, _current_rows(search))
        if core.num_candidates * search.full.cluster.fabric.num_servers > MOST_COUNTS and value is not None:
            break
        if threshold == float("-inf"):
            search.forget_what_costs_proof()
        search.restrict(core)
        outcome = optimize(search, "value", _core_clock(search, threshold, clock))
        if outcome.is_infeasible and threshold == float("-inf"):
            return outcome
        value = search.value("value")
        is_in_core = value is not None and value >= search.floor - SLACK * abs(search.floor)
        if (outcome.is_proven and is_in_core) or search.reaches("value"):
            return LevelOutcome(is_proven=True)
        if outcome.is_proven or outcome.is_infeasible:
            search.tighten("value", search.floor)
        if search.is_stopped or clock.is_over:
            break
    return LevelOutcome(is_proven=False)


def _core_clock(search: Search, threshold: float, clock: Clock) -> Clock:
    """Cores that prove little leave time for all candidates."""
    share = plugin_of(search.full.cluster.fabric).step_one.core_share
    return clock if share == 1 or threshold == float("-inf") else clock.within(share * clock.left_s)


def _improve_far(search: Search, cluster: RayCluster, clock: Clock) -> None:
    """Plan racks anew on the machines of a Ray cluster."""
    if search.assignments is not None:
        improve_racks(search, _planned, clock, cluster)
    search.restrict(search.full)


def _improve(search: Search, clock: Clock) -> None:
    """Plan neighbourhoods of all candidates anew; all are in force then."""
    improve(search, _planned, clock)
    search.restrict(search.full)


def _planned(problem: Problem, options: SolveOptions, start: Sequence[Assignment]) -> Sequence[Assignment]:
    """The most valuable plan found from a given one."""
    search = Search(problem, replace(options, gap=0.0, ray=None))
    search.assignments = tuple(start)
    optimize_value(search, search.clock)
    return search.assignments


def restrict_to_ties(search: Search, tolerance: float) -> None:
    """After level 1: only rows that a plan within the tolerance of the best value may use stay in force.

    Where these are too many, those of the highest bounds do, and nothing more is proven.
    """
    value = search.value("value")
    assert value is not None
    threshold = value - tolerance * abs(value) - 1e-6 * abs(value)
    current, most = _current_rows(search), MOST_COUNTS // search.full.cluster.fabric.num_servers
    core = search.knapsack.core(search.full, threshold, current)
    if core.num_candidates > most:
        search.has_all_rows = False
        core = search.knapsack.core(search.full, search.knapsack.highest(most), current)
    search.restrict(core)


def _thresholds(search: Search, knapsack: KnapsackBounds) -> Sequence[float]:
    if search.full.num_candidates <= SMALL:
        return (float("-inf"),)
    return (*(knapsack.bound * (1 - depth) for depth in DEPTHS), float("-inf"))


def _current_rows(search: Search) -> list[int | None]:
    """Row of each job in the best plan so far."""
    rows: list[int | None] = [None] * len(search.full.options)
    if search.assignments is not None:
        for j, choice in pattern_of(search.full, search.assignments).items():
            rows[j] = choice.row
    return rows
