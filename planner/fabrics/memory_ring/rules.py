"""The rules of memory nodes that devices share and of collectives around rings, in one table."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from costmodel.fabrics import MemoryNodeRings
from planner.checks.fabric_rules import FabricRules
from planner.checks.phases import in_phases
from planner.checks.pricing import Price
from planner.checks.spared_ports import check_spared_ports
from planner.fabrics.memory_ring.rule_nodes import check_nodes, lost_nodes
from planner.fabrics.memory_ring.rule_rounds import check_both_ways
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan
from planner.model.violation import Check, Violation


class MemoryRingRules(FabricRules):
    """Packets between servers; memory nodes belong to the devices on either side of them."""

    after: ClassVar[str] = "second_tier"

    @property
    def checks(self) -> Mapping[str, Check]:
        return {"memory_nodes": check_nodes}

    def lost(self, cluster: Cluster, assignment: Assignment) -> list[str]:
        return lost_nodes(cluster, assignment)

    def simulate(self, instance: Instance, job: Job, assignment: Assignment, charged: Price) -> Iterator[Violation]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        if len(assignment.devices) == assignment.configuration.num_devices:
            for each, plans in zip(in_phases(job, assignment), charged.by_phase, strict=True):
                yield from check_both_ways(fabric, each, plans)

    @property
    def starts(self) -> tuple[Check, ...]:
        return (_check_spared_ports,)


def _check_spared_ports(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Where nodes are shared, DIMMs may be free beside a device with a working port alone."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    if not fabric.shared_nodes:
        yield from check_spared_ports(instance, plan)
