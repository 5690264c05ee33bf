"""Parts of a pool that can stand for each other."""

import re
from collections.abc import Hashable, Iterable, Sequence

from planner.fabrics.interchangeable import Interchangeable
from planner.model.cluster import Cluster

NUMBER = re.compile(r"(#|\.u)\d+$")
"""of a memory unit, a tray's port or an uplink"""


class SipamInterchangeable(Interchangeable):
    """Units of a tray are alike, and so are its ports on a rail, and the uplinks of a server on a rail."""

    def class_of(self, cluster: Cluster, kind: str, part: str) -> Hashable:
        return super().class_of(cluster, kind, part) if kind in ("tile", "rack link") else NUMBER.sub(r"\1", part)

    def in_order(self, parts_of_jobs: Iterable[set[str]]) -> Sequence[str]:
        """Job by job: the first weaknesses that are found are then of few jobs. A part of two jobs is listed twice."""
        return [part for parts in parts_of_jobs for part in sorted(parts)]
