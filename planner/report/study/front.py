"""The runs that no other run beats in both of two measures."""

from collections.abc import Sequence


def on_front(points: Sequence[tuple[float | None, float | None]]) -> list[bool]:
    """Which (more is better, less is better) points no other dominates: as good in both, and better in one.

    Points that lack a value are on no front.
    """
    known = [(gain, cost) for gain, cost in points if gain is not None and cost is not None]

    def is_beaten(gain: float, cost: float) -> bool:
        return any(g >= gain and c <= cost and (g, c) != (gain, cost) for g, c in known)

    return [gain is not None and cost is not None and not is_beaten(gain, cost) for gain, cost in points]
