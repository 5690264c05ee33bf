"""The rules of rails of optical circuit switches, in one table."""

from collections.abc import Mapping

from costmodel.fabrics import FabricBase, OcsRail
from costmodel.parallelism.configuration import Collective
from planner.checks.circuit_rules import CircuitRules, CircuitSpeed
from planner.checks.names import tile_of
from planner.checks.required import sends_packets
from planner.fabrics.ocs_rail.rule_rails import check_rails
from planner.model.cluster import Cluster
from planner.model.plan import Assignment
from planner.model.violation import Check


class OcsRailRules(CircuitRules):
    """Circuits along rails; inside servers packets, which are not planned."""

    @property
    def checks(self) -> Mapping[str, Check]:
        return {"rails": check_rails}

    def speed(self, fabric: FabricBase) -> CircuitSpeed:
        assert isinstance(fabric, OcsRail)
        return CircuitSpeed(fabric.alpha_s, fabric.port_bandwidth_bytes_per_s)

    def is_simulated(self, collective: Collective) -> bool:
        return not sends_packets(collective)

    def lost(self, cluster: Cluster, assignment: Assignment) -> list[str]:
        """Switches that circuits go through."""
        circuits = [circuit for held in assignment.circuits for circuit in held.circuits]
        tiles = [(tile_of(cluster.fabric, c.source), c.wavelengths) for c in circuits]
        used = {f"q{tile[1]}#{w}" for tile, wavelengths in tiles if tile for w in wavelengths}
        return sorted(used.intersection(cluster.health.failed_switches))
