"""The rules of circuits of light, in one table."""

from collections.abc import Mapping
from itertools import combinations
from typing import Literal

from costmodel.fabrics import FabricBase, Lightpath
from planner.checks.circuit_rules import CircuitRules, CircuitSpeed
from planner.checks.fitting import Links as Pairs
from planner.checks.names import admitted
from planner.fabrics.joined_racks.rule_upper import check_joined_racks
from planner.fabrics.lightpath.rule_fibers import Fiber, count_fibers, failed_fibers, fiber_of
from planner.fabrics.lightpath.rule_lasers import check_lasers
from planner.fabrics.lightpath.rule_light import circuits_of
from planner.fabrics.lightpath.rule_loss import check_loss
from planner.fabrics.lightpath.rule_memory_pool import check_memory_pool
from planner.fabrics.lightpath.rule_path import check_path
from planner.fabrics.lightpath.rule_sharing import check_sharing
from planner.fabrics.lightpath.rule_tile import check_tile
from planner.model.cluster import Cluster
from planner.model.health import FailedLaser
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.violation import Check


class LightpathRules(CircuitRules):
    """Circuits of wavelengths over fibers and waveguides."""

    @property
    def checks(self) -> Mapping[str, Check]:
        return {
            "rack": check_joined_racks,
            "tile": check_tile,
            "memory_pool": check_memory_pool,
            "path": check_path,
            "loss": check_loss,
            "sharing": check_sharing,
            "lasers": check_lasers,
        }

    def absent(self, fabric: FabricBase) -> tuple[str, ...]:
        assert isinstance(fabric, Lightpath)
        return () if fabric.memory is not None and fabric.memory.shared else ("memory_pool",)

    def speed(self, fabric: FabricBase) -> CircuitSpeed:
        assert isinstance(fabric, Lightpath)
        return CircuitSpeed(fabric.alpha_s, fabric.wavelength_bandwidth_bytes_per_s, fabric.reconfiguration_s)

    def lost(self, cluster: Cluster, assignment: Assignment) -> list[str]:
        """Fibers, then lasers, then receivers."""
        fabric, health = cluster.fabric, cluster.health
        assert isinstance(fabric, Lightpath)
        failed = failed_fibers(cluster)
        used = {name for _, _, circuit in circuits_of(assignment) for name in circuit.fibers}
        return [
            *sorted(name for name in used if fiber_of(fabric, name) in failed),
            *(part.name for part in health.failed_lasers if _uses(assignment, part, "source")),
            *(part.name for part in health.failed_receivers if _uses(assignment, part, "destination")),
        ]

    def pairs_to_span(self, instance: Instance, plan: Plan) -> list[Pairs]:
        """Pairs with a fiber each way that carries no light, by rack."""
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Lightpath)
        pairs = [*combinations(range(fabric.servers), 2)]
        taken: set[Fiber | None] = {*failed_fibers(instance.cluster)}
        for _, assignment in admitted(instance, plan):
            taken |= {fiber_of(fabric, name) for _, _, c in circuits_of(assignment) for name in c.fibers}

        def is_free(source: int, destination: int) -> bool:
            indices = range(count_fibers(fabric, source, destination))
            return any((source, destination, i) not in taken for i in indices)

        return [
            frozenset((a, b) for a, b in pairs if is_free(first + a, first + b) and is_free(first + b, first + a))
            for first in range(0, fabric.num_servers, fabric.servers)
        ]


def _uses(assignment: Assignment, part: FailedLaser, end: Literal["source", "destination"]) -> bool:
    """True if a circuit leaves, or enters, the tile of a laser or receiver on its wavelength."""
    circuits = (circuit for _, _, circuit in circuits_of(assignment))
    return any(getattr(c, end) == part.tile and part.wavelength in c.wavelengths for c in circuits)
