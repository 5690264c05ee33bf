"""The rules of pooled racks, in one table."""

from collections.abc import Mapping
from typing import ClassVar

from costmodel.fabrics import FabricBase, Sipam
from planner.checks.circuit_rules import CircuitRules, CircuitSpeed
from planner.checks.names import tile_of
from planner.fabrics.joined_racks.rule_upper import check_joined_racks
from planner.fabrics.sipam.rule_memory_pool import check_memory_pool
from planner.fabrics.sipam.rule_network import check_pool_network, check_reserved_uplinks
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.fabrics.sipam.rule_pool_light import check_pool_light
from planner.model.cluster import Cluster
from planner.model.plan import Assignment
from planner.model.violation import Check


class SipamRules(CircuitRules):
    """Circuits to memory and between accelerators, through switches that a plan states."""

    after: ClassVar[str] = "phases"

    @property
    def checks(self) -> Mapping[str, Check]:
        return {
            "rack": check_joined_racks,
            "memory_pool": check_memory_pool,
            "pool_network": check_pool_network,
            "pool_light": check_pool_light,
        }

    @property
    def starts(self) -> tuple[Check, ...]:
        return (check_reserved_uplinks,)

    def speed(self, fabric: FabricBase) -> CircuitSpeed:
        assert isinstance(fabric, Sipam)
        return CircuitSpeed(fabric.alpha_s, fabric.shoreline.io.bandwidth_bytes_per_s)

    def lost(self, cluster: Cluster, assignment: Assignment) -> list[str]:
        """Units, ports, uplinks and switches."""
        fabric = cluster.fabric
        assert isinstance(fabric, Sipam)
        parts, used = PoolParts(cluster, fabric), set[str]()
        for plug in assignment.memory:
            used |= {plug.port, *plug.units}
            if tile := tile_of(fabric, plug.device):
                used.add(parts.server_switch(tile[0], plug.rail))
        for circuit in (circuit for held in assignment.circuits for circuit in held.circuits):
            tiles = [tile for name in (circuit.source, circuit.destination) if (tile := tile_of(fabric, name))]
            switches = (parts.server_switch(server, q) for server, _ in tiles for q in circuit.wavelengths)
            used |= {*circuit.fibers, *switches}
            if circuit.fibers:
                used |= {parts.zone_switch(server, q) for server, _ in tiles for q in circuit.wavelengths}
        return sorted(used & parts.failed)
