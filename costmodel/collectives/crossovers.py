"""Which plan is best from which message size on."""

from itertools import pairwise

from costmodel.collectives.family import EVERY_PLAN, Family, crossing_bytes, fastest, plans_of
from costmodel.collectives.ladder import Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan

Piece = tuple[float, CollectivePlan]
"""(bytes from which on, plan)"""


def crossovers(
    collective: Collective,
    ranks: int,
    limits: Limits,
    low_bytes: float,
    high_bytes: float,
    family: Family = EVERY_PLAN,
) -> tuple[Piece, ...]:
    """Best plans from `low_bytes` to `high_bytes`, by increasing size."""
    if not 0 <= low_bytes < high_bytes:
        raise ValueError(f"low_bytes, high_bytes: need 0 <= low < high, got {low_bytes:g} and {high_bytes:g}")
    if family.overlap:
        raise ValueError("family: times with overlap are no lines in the message size; leave overlap out")
    plans = fastest(plans_of(collective, ranks, limits, family))
    starts = [0.0, *(crossing_bytes(quick, wide) for quick, wide in pairwise(plans))]
    ends = [*starts[1:], float("inf")]
    return tuple(
        (max(start, low_bytes), plan)
        for start, end, plan in zip(starts, ends, plans, strict=True)
        if end > low_bytes and start < high_bytes
    )
