"""Policies as incremental objects: one job is placed, or given back, at a time."""

from collections.abc import Callable
from random import Random

from planner.fabrics import plugin_of
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.look_ahead import LookAhead
from planner.fabrics.placement import Placement
from planner.fabrics.search import Search, Strategy
from planner.heuristics.strategies import aligned, in_order, shuffled, tightest
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.result import SolveOptions
from planner.policies import find_policy, outside_policies
from planner.policies.by_strategy import StrategyPolicy
from planner.simulate.cuts import CUTTERS, SlicePlacer
from planner.simulate.outside import OutsidePlacer
from planner.simulate.placer import Placer
from planner.simulate.queue import Queue
from planner.simulate.runs import Jobs
from planner.simulate.wfp_queue import WfpQueue


class StrategyPlacer(Placer):
    """Each job with its most valuable row that fits, over servers as a strategy says."""

    def __init__(self, state: FreeState, strategy: Strategy, *, is_fixed: bool = True, of_loop: bool = False) -> None:
        """`is_fixed`: whether the strategy always gives the same spreads; `of_loop`: whether jobs take the
        memory that the SiPAM loop gives them, where memory is pooled."""
        self.state, self.is_fixed = state, is_fixed
        self._search = Search(strategy, is_fixed=is_fixed, of_loop=of_loop)

    def place(self, kind: JobClass) -> Placement | None:
        return self.state.place(kind, self._search)

    def look(self, kind: JobClass) -> Placement | None:
        return self.state.found(kind, self._search)

    def look_ahead(self, kind: JobClass) -> LookAhead:
        return self.state.look_ahead(kind, self._search)


class OwnPlacer(Placer):
    """A policy that knows the kind of fabric, as its plug-in has it."""

    is_fixed = True

    def __init__(self, state: FreeState, name: str) -> None:
        policy = plugin_of(state.cluster.fabric).own_policy(state.cluster, name)
        assert policy is not None
        self.state, self._policy = state, policy

    def place(self, kind: JobClass) -> Placement | None:
        return self._policy(self.state, kind)


def _slices(name: str) -> Callable[[FreeState, int], Placer]:
    def make(state: FreeState, seed: int) -> Placer:
        if plugin_of(state.cluster.fabric).own_slices == name:
            return StrategyPlacer(state, in_order)
        return SlicePlacer(state, name)

    return make


SOLVER = SolveOptions(workers=1, deterministic_limit=2.0)
"""of one decision; no clock, so that cells are the same on all machines"""
PLACERS: dict[str, Callable[[FreeState, int], Placer]] = {
    "first_fit": lambda state, seed: StrategyPlacer(state, in_order),
    "best_fit": lambda state, seed: StrategyPlacer(state, tightest),
    "server_aligned": lambda state, seed: StrategyPlacer(state, aligned),
    "random_fit": lambda state, seed: StrategyPlacer(state, shuffled(Random(seed)), is_fixed=False),
    "sipam_loop": lambda state, seed: StrategyPlacer(state, tightest, of_loop=True),
    "torus_slices": _slices("torus_slices"),
    "bcube_slices": _slices("bcube_slices"),
    "rfold": lambda state, seed: OwnPlacer(state, "rfold"),
    "best_fit_wfp": lambda state, seed: StrategyPlacer(state, tightest),
    "best_fit_moving": lambda state, seed: StrategyPlacer(state, tightest),
    "solver": lambda state, seed: OutsidePlacer(state, "cpsat", SOLVER),
}
"""state and seed -> policy"""
MEANINGS = {
    "first_fit": "the first servers with room",
    "best_fit": "the servers with the least room to spare",
    "server_aligned": "whole servers where a job fills them",
    "random_fit": "servers at random",
    "sipam_loop": "best fit with the memory that the published loop gives, where memory is pooled",
    "torus_slices": "boxes of a torus",
    "bcube_slices": "subcubes of digits",
    "rfold": "RFold (arXiv:2510.03891) on cubes of a torus: foldings of a job's box, whole cubes joined by switches",
    "best_fit_wfp": "best fit; jobs wait by priority, then by wait over runtime times the cube of the size, the "
    "greatest first (WFP, Tang et al. 2009), in place of the order of arrival",
    "best_fit_moving": "best fit; where a job finds no room, running jobs change places, the fewest ranks by CP-SAT, "
    "with or without --migrate",
    "solver": "`planner solve` for one job at a time on what is free, which takes its time",
}
"""policy -> what it does"""
ORDERS: dict[str, Callable[[Jobs], Queue]] = {"best_fit_wfp": WfpQueue}
"""policy -> queue, where jobs do not wait in the order of arrival"""
OWN = frozenset({"rfold"})
"""policies that know one kind of fabric"""
MOVING = frozenset({"best_fit_moving"})
"""policies that move running jobs whether or not all do"""
UNSOLVED = PLACERS.keys() - MOVING - {"solver"}
"""policies that build no model: objects of theirs form no cycles"""
FORMER = {"cpsat": "best_fit_moving"}
"""former name -> policy"""


def placer_of(name: str, seed: int) -> Callable[[FreeState], Placer]:
    """A policy by its name, ours or that of another distribution: at full speed where it is a strategy, else it is
    asked to plan one job at each decision."""
    if name in PLACERS:
        return lambda state: PLACERS[name](state, seed)
    policy = find_policy(name)
    if isinstance(policy, StrategyPolicy):
        return lambda state: StrategyPlacer(state, policy.strategy)
    return lambda state: OutsidePlacer(state, name, SolveOptions(seed=seed, workers=1))


def require_placer(name: str, cluster: Cluster, where: str) -> None:
    """InputError for a policy that is unknown, or that does not go with a fabric."""
    outside = outside_policies()
    if name not in PLACERS and name not in outside:
        known = ", ".join([*PLACERS, *outside])
        raise InputError(where, f"'{name}'", f"is no policy of a replay; policies are: {known}")
    plugin = plugin_of(cluster.fabric)
    problem = plugin.why_not_cut(name) if name in CUTTERS else None
    if name in OWN and plugin.own_policy(cluster, name) is None:
        problem = f"does not go with this {plugin.kind}; it is for cubes of a torus that switches join, without boards"
    if problem is not None:
        raise InputError(where, f"'{name}'", problem)
