"""The rules of slices, in one table."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from costmodel.fabrics import FabricBase, Sipac, Torus
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.charged import compare_time
from planner.checks.fabric_rules import FabricRules
from planner.checks.pricing import Price
from planner.checks.required import Links as Required
from planner.checks.rounds_across import NO_TIME, time_between_racks
from planner.fabrics.joined_racks.rule_upper import check_joined_racks
from planner.fabrics.slices.rule_boards import check_boards
from planner.fabrics.slices.rule_boxes import box_of
from planner.fabrics.slices.rule_caches import caches_time
from planner.fabrics.slices.rule_cut import check_cut, placed_parts
from planner.fabrics.slices.rule_links import Links, message_time
from planner.fabrics.slices.rule_switches import check_switches
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment
from planner.model.violation import Check, Violation


class SlicedRules(FabricRules):
    """Jobs hold slices of a fixed extent, and messages go over the links inside them."""

    runs_by_rank: ClassVar[bool] = False

    @property
    def checks(self) -> Mapping[str, Check]:
        return {"rack": check_joined_racks, "cut": check_cut}

    def simulate(self, instance: Instance, job: Job, assignment: Assignment, charged: Price) -> Iterator[Violation]:
        """Messages over the links of each part, in the time charged."""
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Torus | Sipac)
        box = box_of(fabric, assignment.configuration)
        if box is None or (box.num_ranks == 1 and assignment.configuration.racks == 1):
            return
        links = Links(fabric, assignment)
        for placed in placed_parts(fabric, box, assignment):
            for dimension, expected in zip(DIMENSIONS, charged.by_phase[-1], strict=True):
                collective: Collective = getattr(assignment.configuration, f"{dimension}_collective")
                beyond = time_between_racks(fabric, assignment.configuration) if dimension == "data" else NO_TIME
                if collective.kind == "none" and beyond == NO_TIME:
                    continue
                where = f"{job.name}: {dimension}"
                if dimension == "data" and assignment.configuration.prefill:
                    simulated = caches_time(links, assignment.configuration, box, placed)
                else:
                    simulated = message_time(links, collective, dimension, box, placed)
                if simulated is None:
                    yield Violation("rounds", where, f"{where}: a step goes between accelerators without a link")
                    continue
                yield from compare_time((simulated[0] + beyond[0], simulated[1] + beyond[1]), expected, where)


class TorusRules(SlicedRules):
    """Slices of a torus, whose cubes may be joined by switches."""

    @property
    def checks(self) -> Mapping[str, Check]:
        return {**super().checks, "switches": check_switches, "boards": check_boards}

    def absent(self, fabric: FabricBase) -> tuple[str, ...]:
        assert isinstance(fabric, Torus)
        return () if fabric.boards is not None else ("boards",)

    def required(self, configuration: Configuration) -> list[tuple[str, Required]] | None:
        """Circuits of a torus join slices, whatever runs there: `switches` says which."""
        return None

    def lost(self, cluster: Cluster, assignment: Assignment) -> list[str]:
        """Switches that circuits go through."""
        used = {name for held in assignment.circuits for c in held.circuits for name in c.fibers}
        return sorted(used.intersection(cluster.health.failed_switches))
