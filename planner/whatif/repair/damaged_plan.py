"""A plan on a damaged cluster: what each job lost, and what is free."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from costmodel.pricing.servers_by_rack import ServersByRack
from planner.cpsat.repair import RepairProblem
from planner.fabrics import plugin_of
from planner.fabrics.claims import lost
from planner.fabrics.ranked_assignment import RankedAssignment, ranked_by
from planner.fabrics.spares import Device
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, Plan


@dataclass(frozen=True)
class DamagedPlan:
    """A plan whose jobs stand on failed parts of the instance.

    `plan` may leave out jobs of the plan that is repaired; all counts are about the jobs that are left.
    """

    instance: Instance
    """with the failures"""
    plan: Plan

    @property
    def cluster(self) -> Cluster:
        return self.instance.cluster

    @cached_property
    def tenants(self) -> tuple[RankedAssignment, ...]:
        return tuple(ranked_by(self.cluster.fabric, assignment) for assignment in self.plan.assignments)

    @cached_property
    def lost(self) -> dict[str, tuple[int, ...]]:
        """Ranks of each job that must leave their device."""
        cluster = self.cluster
        lost = {
            tenant.name: tuple(
                rank
                for rank, device in enumerate(tenant.devices)
                if device in cluster.failed_devices or (len(tenant.devices) > 1 and device in cluster.dark_devices)
            )
            for tenant in self.tenants
        }
        return {name: ranks for name, ranks in lost.items() if ranks}

    @cached_property
    def cut(self) -> frozenset[str]:
        """Jobs whose light needs a failed fiber, laser or receiver, or a failed part between racks, or whose memory
        nodes failed."""
        cluster = self.cluster
        failed = frozenset((*cluster.health.failed_upper, *cluster.health.failed_memory_nodes))
        claims = plugin_of(cluster.fabric).claims
        relying = {a.job for a in self.plan.assignments if failed and lost(claims.of(cluster.fabric, a), failed)}
        return frozenset(name for name, broken in self.broken.items() if any(broken)) | relying

    @property
    def is_placed_anew(self) -> bool:
        """True if jobs that lost a part are placed anew, whole: slots depend on each other, or racks do."""
        spread = {a.job for a in self.plan.assignments if a.configuration.racks > 1}
        return self.cluster.fabric.places_whole_jobs or bool(spread & self.touched)

    @cached_property
    def broken(self) -> dict[str, tuple[frozenset[int], ...]]:
        """Positions of circuits of each job whose light needs a failed part, by configuration."""
        return {tenant.name: tenant.broken(self.cluster) for tenant in self.tenants}

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(self.lost) | self.cut

    @cached_property
    def free(self) -> frozenset[Device]:
        """Healthy devices, with or without a port, that no rank holds or that a lost rank leaves."""
        return self.free_beside(self.tenants)

    def free_beside(self, fixed: Iterable[RankedAssignment]) -> frozenset[Device]:
        """Healthy devices that these jobs do not hold."""
        servers = range(self.cluster.fabric.num_servers)
        healthy = {(server, slot) for server in servers for slot in self.cluster.healthy_slots(server)}
        return frozenset(healthy.difference(*(tenant.devices for tenant in fixed)))

    @property
    def least_moves(self) -> int:
        """Ranks that must move in every repair that keeps all jobs as they run."""
        return sum(map(len, self.lost.values()))

    @cached_property
    def least_changes(self) -> int:
        """Circuits that change in every such repair: those of lost ranks and of failed light."""
        count = 0
        for tenant in self.tenants:
            gone = set(self.lost.get(tenant.name, ()))
            for links, broken in zip(tenant.links, self.broken[tenant.name], strict=True):
                count += sum(
                    link.source in gone or link.destination in gone or i in broken for i, link in enumerate(links)
                )
        return count

    @cached_property
    def even(self) -> frozenset[str]:
        """Jobs that ask for as many ranks on each of their servers."""
        return frozenset(t.name for t in self.tenants if self.instance.job(t.name).constraints.per_server is not None)

    @cached_property
    def by_rack(self) -> dict[str, ServersByRack]:
        """Servers of each rack that jobs ask for, by job."""
        asked = {t.name: self.instance.job(t.name).constraints.servers_by_rack for t in self.tenants}
        return {name: numbers for name, numbers in asked.items() if numbers is not None}

    def leaves_ports(self, assignments: Sequence[Assignment]) -> bool:
        """True if no single-device job that moved took a working port beside a free device without one."""
        before = {tenant.name: tenant.devices for tenant in self.tenants}
        placed = [ranked_by(self.cluster.fabric, assignment) for assignment in assignments]
        dark = self.cluster.dark_devices
        entered = [t.devices[0] for t in placed if len(t.devices) == 1 and t.devices != before.get(t.name)]
        spare = {device[0] for device in self.free_beside(placed) & dark}
        return not any(device[0] in spare and device not in dark for device in entered)

    def problem(self, names: Collection[str]) -> RepairProblem:
        """The jobs of these names to be searched, all others fixed, and residents that may not move."""
        searched = tuple(tenant for tenant in self.tenants if tenant.name in names and self._may_move(tenant.name))
        fixed = [tenant for tenant in self.tenants if tenant not in searched]
        return RepairProblem(
            cluster=self.cluster,
            tenants=searched,
            free=self.free_beside(fixed),
            fixed=tuple(tenant.assignment for tenant in fixed),
            even=self.even,
            by_rack=self.by_rack,
        )

    def _may_move(self, name: str) -> bool:
        job = self.instance.job(name)
        return not isinstance(job, Resident) or job.movable
