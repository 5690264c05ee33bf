"""Classes of jobs where memory is pooled: options with the units, ports and uplinks that they ask for."""

from collections.abc import Sequence

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.job_class import JobClassRules, Option
from planner.fabrics.problem import JobOptions
from planner.fabrics.sipam.published_loop import loop_rows
from planner.model.cluster import Cluster
from planner.model.errors import InputError


class SipamJobClassRules(JobClassRules):
    """Options of equal size differ in memory; of a controller none takes more than its accelerators' share."""

    def of_loop(self, options: JobOptions, order: Sequence[int], cluster: Cluster) -> Sequence[int]:
        assert isinstance(cluster.fabric, Sipam)
        if cluster.fabric.local_memory:
            return order
        chosen = set(loop_rows(cluster, options.job, options.candidates).tolist())
        return [index for index in order if index in chosen]

    def offered(self, options: Sequence[Option], fabric: FabricBase) -> tuple[Option, ...]:
        """Those that take no more pooled memory than falls to their accelerators, and where as many accelerators cannot
        do with that, those that take the least, behind the others: a job that takes all that makes it faster leaves the
        next ones accelerators without memory."""
        assert isinstance(fabric, Sipam)
        share = fabric.units_per_server / fabric.devices_per_server
        least: dict[int, int] = {}
        for option in options:
            size, units = option.shape.num_ranks, option.shape.pooled_units
            least[size] = min(units, least.get(size, units))
        kept = [option for option in options if option.shape.pooled_units <= max(share, least[option.shape.num_ranks])]
        return tuple(sorted(kept, key=lambda option: option.shape.pooled_units > share))

    def require_served(self, fabric: FabricBase) -> None:
        assert isinstance(fabric, Sipam)
        if fabric.local_memory:
            problem = "a controller moves no pages into a pool; remove it, or plan the cluster with `planner solve`"
            raise InputError("cluster", "fabric.local_memory", problem)
