"""Energy per bit by route: what lies between two ends, and the mean over the pairs of a placed group."""

from costmodel.hardware.routes.pairs import PairCounts, mean_pair_j_per_byte, packed, pair_counts
from costmodel.hardware.routes.parts import Part, Route, RouteParts, Scenario, load_route_parts, route_parts_names

__all__ = [
    "PairCounts",
    "Part",
    "Route",
    "RouteParts",
    "Scenario",
    "load_route_parts",
    "mean_pair_j_per_byte",
    "packed",
    "pair_counts",
    "route_parts_names",
]
