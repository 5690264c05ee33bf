"""Policies as incremental objects: one job is placed, or given back, at a time."""

from collections.abc import Callable
from random import Random
from typing import Protocol

from costmodel.fabrics import Sipac, Sipam, SlicedFabric, Torus
from planner.cluster import Cluster
from planner.errors import InputError
from planner.policies import outside_policies
from planner.replay.cuts import SlicePlacer
from planner.replay.kinds import Kind
from planner.replay.outside import OutsidePlacer
from planner.replay.state import Placement, State
from planner.replay.strategies import Strategy, aligned, in_order, shuffled, tightest


class Placer(Protocol):
    """Places jobs on one state."""

    state: State

    def place(self, kind: Kind) -> Placement | None:
        """A place for a job, taken; None where the policy finds none."""
        ...


class StrategyPlacer:
    """Each job with its most valuable row that fits, over servers as a strategy says."""

    def __init__(self, state: State, strategy: Strategy, *, is_fixed: bool = True, of_loop: bool = False) -> None:
        """`is_fixed`: whether the strategy gives the same ways whenever it is asked; `of_loop`: whether jobs take the
        memory that the SiPAM loop gives them, where memory is pooled."""
        self.state = state
        self._strategy, self._is_fixed, self._of_loop = strategy, is_fixed, of_loop

    def place(self, kind: Kind) -> Placement | None:
        return self.state.place(kind, self._strategy, is_fixed=self._is_fixed, of_loop=self._of_loop)


def _slices(name: str, own: type[SlicedFabric]) -> Callable[[State, int], Placer]:
    def make(state: State, seed: int) -> Placer:
        if isinstance(state.cluster.fabric, own):
            return StrategyPlacer(state, in_order)
        return SlicePlacer(state, name)

    return make


PLACERS: dict[str, Callable[[State, int], Placer]] = {
    "first_fit": lambda state, seed: StrategyPlacer(state, in_order),
    "best_fit": lambda state, seed: StrategyPlacer(state, tightest),
    "server_aligned": lambda state, seed: StrategyPlacer(state, aligned),
    "random_fit": lambda state, seed: StrategyPlacer(state, shuffled(Random(seed)), is_fixed=False),
    "sipam_loop": lambda state, seed: StrategyPlacer(state, tightest, of_loop=True),
    "torus_slices": _slices("torus_slices", Torus),
    "bcube_slices": _slices("bcube_slices", Sipac),
    "cpsat": lambda state, seed: StrategyPlacer(state, tightest),
}
"""state and seed -> policy; cpsat is best fit whose neighbours CP-SAT moves where a job finds no room"""
MOVING = frozenset({"cpsat"})
"""policies that move running jobs whether or not all do"""


def placer_of(name: str, seed: int) -> Callable[[State], Placer]:
    """A policy by its name, ours or that of another distribution."""
    if name in PLACERS:
        return lambda state: PLACERS[name](state, seed)
    return lambda state: OutsidePlacer(state, name, seed)


def require_placer(name: str, cluster: Cluster, where: str) -> None:
    """InputError for a policy that is unknown, or that does not go with a fabric."""
    fabric, outside = cluster.fabric, outside_policies()
    if name not in PLACERS and name not in outside:
        known = ", ".join([*PLACERS, *outside])
        raise InputError(where, f"'{name}'", f"is no policy of a replay; policies are: {known}")
    if name not in PLACERS and isinstance(fabric, SlicedFabric | Sipam):
        problem = f"policies of other distributions are not replayed on a {fabric.kind}; take {', '.join(PLACERS)}"
        raise InputError(where, f"'{name}'", problem)
    own = {"torus_slices": Torus, "bcube_slices": Sipac}
    if name in own and isinstance(fabric, Sipam):
        raise InputError(where, f"'{name}'", "a sipam has no slices; take first_fit, best_fit or sipam_loop")
    if name in own and isinstance(fabric, SlicedFabric) and not isinstance(fabric, own[name]):
        raise InputError(where, f"'{name}'", f"a {fabric.kind} has slices of its own; take first_fit or best_fit")
