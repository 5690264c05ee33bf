"""What jobs that run already share: no more of the memory of a server than there is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from costmodel.fabrics import ServerShares
from planner.fabrics import plugin_of
from planner.fabrics.claims import Holdings
from planner.fabrics.residents import ResidentRules
from planner.model.cluster import Cluster

if TYPE_CHECKING:
    from planner.model.job import Resident


class SharedResidents(ResidentRules):
    """Residents share what their server has."""

    def check_shares(self, cluster: Cluster, residents: Sequence["Resident"]) -> None:
        claims, holdings, fabric = plugin_of(cluster.fabric).claims, Holdings(), cluster.fabric
        assert isinstance(fabric, ServerShares)
        capacity = claims.capacity(cluster)
        for resident in residents:
            claimed = claims.of(cluster.fabric, resident)
            holdings.take(resident.name, claimed)
            excess = {part: holdings.counted(part) - capacity[part] for part in claimed.counted}
            for what in fabric.share_names:
                of_what = {part: more for part, more in excess.items() if part.startswith(f"{what} of ") and more > 0}
                if of_what:
                    part = max(of_what, key=lambda each: of_what[each])
                    raise ValueError(
                        f"residents[{resident.name}].configuration: residents on {part.removeprefix(f'{what} of ')} "
                        f"hold {of_what[part]} {what} more than it has; lower memory_units, memory_io or tier_units, "
                        "or move one of them"
                    )
