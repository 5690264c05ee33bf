"""Memory nodes of jobs that run already: no more DIMMs of one than it has."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.fabrics import plugin_of
from planner.fabrics.claims import Holdings
from planner.fabrics.residents import ResidentRules
from planner.model.cluster import Cluster

if TYPE_CHECKING:
    from planner.model.job import Resident


class MemoryRingResidents(ResidentRules):
    """Residents share the nodes between them."""

    def check_shares(self, cluster: Cluster, residents: Sequence["Resident"]) -> None:
        claims, holdings = plugin_of(cluster.fabric).claims, Holdings()
        capacity = claims.capacity(cluster)
        for resident in residents:
            claimed = claims.of(cluster.fabric, resident)
            part = holdings.overdrawn(claimed.counted, capacity)
            if part is not None:
                raise ValueError(
                    f"residents[{resident.name}].configuration: residents hold more {part} than its "
                    f"{capacity[part]}; lower memory_units, or move one of them"
                )
            holdings.take(resident.name, claimed)
