"""Which plan is best from which message size on."""

from costmodel.plans.best import EVERY_PLAN, Family, best
from costmodel.plans.ladder import Collective
from costmodel.plans.limits import Limits
from costmodel.plans.plan import Plan

Piece = tuple[float, Plan]
"""(bytes from which on, plan)"""


def crossovers(
    collective: Collective,
    ranks: int,
    limits: Limits,
    low_bytes: float,
    high_bytes: float,
    family: Family = EVERY_PLAN,
) -> tuple[Piece, ...]:
    """Best plans from `low_bytes` to `high_bytes`, by increasing size.

    Times are lines in the message size, so two neighbours on the lower envelope are joined where no plan is below the
    point where they cross: every piece is exact.
    """
    if not 0 <= low_bytes < high_bytes:
        raise ValueError(f"low_bytes, high_bytes: need 0 <= low < high, got {low_bytes:g} and {high_bytes:g}")
    if family.overlap:
        raise ValueError("family: times with overlap are no lines in the message size; leave overlap out")
    first = best(collective, ranks, low_bytes, limits, family).plan
    last = best(collective, ranks, high_bytes, limits, family).plan
    pieces, waiting = [(low_bytes, first)], [(first, last)]
    while waiting:
        left, right = waiting.pop()
        crossing = _crossing_bytes(left, right)
        if crossing is None or not low_bytes < crossing < high_bytes:
            continue
        between = best(collective, ranks, crossing, limits, family)
        if between.time_s >= left.time_s(crossing) * (1 - 1e-12):
            pieces.append((crossing, right))
        else:
            waiting += [(between.plan, right), (left, between.plan)]
    return tuple(pieces)


def _line(plan: Plan) -> tuple[float, float]:
    """Latency, and seconds per byte, of a plan without bridges."""
    latency_s, unit = plan.time_s(0.0), 2.0**40
    return latency_s, (plan.time_s(unit) - latency_s) / unit


def _crossing_bytes(left: Plan, right: Plan) -> float | None:
    """Size from which on the right plan is faster; None for equal lines."""
    (left_s, left_slope), (right_s, right_slope) = _line(left), _line(right)
    if left_slope - right_slope <= 1e-12 * left_slope:
        return None
    return (right_s - left_s) / (left_slope - right_slope)
