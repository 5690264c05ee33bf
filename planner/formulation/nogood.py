"""No-goods: what step 2 proved impossible, for step 1 to propose no more."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.fabrics.demand import Demand
from planner.fabrics.free_state import MostLit as MostLit


@dataclass(frozen=True)
class Nogood:
    """Choices that exclude each other: demands on counts of blocks, beside residents that stay."""

    placed: Mapping[int, tuple[Demand, tuple[tuple[int, int], ...]]]
    """by index of the job: what it asks for, and (server, blocks); without blocks, wherever it lies"""
    staying: tuple[int, ...]
    """indices of residents that keep what they hold"""
    most_lit: MostLit | None
    """it holds while no more fibers are lit; None: it always holds"""
