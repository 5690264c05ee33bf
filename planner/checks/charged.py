"""Simulated time of a collective beside the time that the cost model charges."""

from collections.abc import Iterator

from costmodel.fabrics import GroupPlan
from planner.model.violation import Violation

TOLERANCE = 0.0025
"""relative difference between simulated and charged time"""


def compare_time(time: tuple[float, float], charged: GroupPlan, where: str) -> Iterator[Violation]:
    """Seconds of a message, fixed and per byte, are those charged."""
    latency_s, seconds_per_byte = time
    for name, simulated, expected in (
        ("latency_s", latency_s, charged.latency_s),
        ("seconds_per_byte", seconds_per_byte, charged.seconds_per_byte),
    ):
        if abs(simulated - expected) > TOLERANCE * expected:
            message = f"{where}: {name} is {simulated:.6g} over its circuits, charged {expected:.6g}"
            yield Violation("rounds", where, message, abs(simulated - expected))
