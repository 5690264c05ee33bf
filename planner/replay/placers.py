"""Policies as incremental objects: one job is placed, or given back, at a time."""

from collections.abc import Callable
from random import Random
from typing import Protocol

from costmodel.fabrics import Sipac, SlicedFabric, Torus
from planner.cluster import Cluster
from planner.errors import InputError
from planner.replay.cuts import SlicePlacer
from planner.replay.kinds import Kind
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

    def __init__(self, state: State, strategy: Strategy) -> None:
        self.state = state
        self._strategy = strategy

    def place(self, kind: Kind) -> Placement | None:
        return self.state.place(kind, self._strategy)


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
    "random_fit": lambda state, seed: StrategyPlacer(state, shuffled(Random(seed))),
    "torus_slices": _slices("torus_slices", Torus),
    "bcube_slices": _slices("bcube_slices", Sipac),
    "cpsat": lambda state, seed: StrategyPlacer(state, tightest),
}
"""state and seed -> policy; cpsat is best fit whose neighbours CP-SAT moves where a job finds no room"""
MOVING = frozenset({"cpsat"})
"""policies that move running jobs whether or not all do"""


def require_placer(name: str, cluster: Cluster, where: str) -> None:
    """InputError for a policy that is unknown, or that does not go with a fabric."""
    if name not in PLACERS:
        raise InputError(where, f"'{name}'", f"is no policy of a replay; policies are: {', '.join(PLACERS)}")
    fabric = cluster.fabric
    own = {"torus_slices": Torus, "bcube_slices": Sipac}
    if name in own and isinstance(fabric, SlicedFabric) and not isinstance(fabric, own[name]):
        raise InputError(where, f"'{name}'", f"a {fabric.kind} has slices of its own; take first_fit or best_fit")
