"""Appliances of jobs that run already: no more modules, ports and second-tier units of a server than there are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.fabrics import plugin_of
from planner.fabrics.claims import Holdings
from planner.fabrics.divided_ports.claims import SHARED
from planner.fabrics.residents import ResidentRules
from planner.model.cluster import Cluster

if TYPE_CHECKING:
    from planner.model.job import Resident


class DividedPortsResidents(ResidentRules):
    """Residents share what their server has."""

    def check_shares(self, cluster: Cluster, residents: Sequence["Resident"]) -> None:
        claims, holdings = plugin_of(cluster.fabric).claims, Holdings()
        capacity = claims.capacity(cluster)
        for resident in residents:
            claimed = claims.of(cluster.fabric, resident)
            holdings.take(resident.name, claimed)
            excess = {part: holdings.counted(part) - capacity[part] for part in claimed.counted}
            for what in SHARED:
                of_what = {part: more for part, more in excess.items() if part.startswith(f"{what} of ") and more > 0}
                if of_what:
                    part = max(of_what, key=lambda each: of_what[each])
                    raise ValueError(
                        f"residents[{resident.name}].configuration: residents on {part.removeprefix(f'{what} of ')} "
                        f"hold {of_what[part]} {what} more than its appliances have; lower memory_units, memory_io "
                        "or tier_units, or move one of them"
                    )
