"""Step 1 with light: what circuits of wavelengths add to counts by server."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import ClassVar

from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.columns import FiberColumns
from planner.fabrics.lightpath.crossing import IMPOSSIBLE, least_crossing, most_apart, most_crossing
from planner.fabrics.lightpath.groups import GROUPS
from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.lightpath.step1_variables import LightVariables, light_variables
from planner.fabrics.lightpath.step2_ranks import reserve
from planner.fabrics.problem import Problem
from planner.formulation.nogood import Nogood
from planner.formulation.step_one import PairLight, Scarce, StepOne
from planner.formulation.variables import BlockKind, Pair, Variables
from planner.model.cluster import Cluster
from planner.model.plan import Assignment


class LightpathStepOne(StepOne):
    """Counts by server, and wavelengths between servers."""

    groups: ClassVar = GROUPS

    def variables(self, cluster: Cluster) -> LightVariables:
        return LightVariables(cluster)

    def num_pairs(self, cluster: Cluster) -> int:
        fabric, servers = cluster.fabric, range(cluster.fabric.num_servers)
        racks = (servers[first : first + fabric.servers] for first in servers[:: fabric.servers])
        return sum(fabric.num_fibers(a, b) > 0 for rack in racks for a in rack for b in rack)

    def may_rename(self, problem: Problem, nogood: Nogood) -> bool:
        return _are_alike(problem.cluster) and not nogood.staying and nogood.most_lit is None

    def counts_of(self, cluster: Cluster) -> Callable[[Demand], frozenset[int]] | None:
        if not _are_alike(cluster) or cluster.dark_devices or _shares_memory(cluster):
            return None
        leaving = _leaving(LightVariables(cluster).per_fiber)
        return lambda demand: frozenset(leaving(demand))

    def pair_light(self, cluster: Cluster) -> PairLight | None:
        if cluster.fabric.racks > 1 or not self.needs_devices_alone(cluster):
            return None
        light = LightVariables(cluster)
        fibers = light.num_fibers
        joined = {(a, b): min(count, fibers.get((b, a), 0)) for (a, b), count in fibers.items() if a < b}
        carried = {pair: count * light.per_fiber for pair, count in joined.items() if count}
        is_even = all(count == fibers.get((b, a), 0) for (a, b), count in fibers.items())
        is_all = is_even and light.fabric.most_hops == 1 and not cluster.dark_devices
        return PairLight(_leaving(light.per_fiber), most_crossing, most_apart, carried, is_all)

    def scarce(self, cluster: Cluster) -> Scarce | None:
        fabric = cluster.fabric
        assert isinstance(fabric, Lightpath)
        return FiberColumns.scarce(cluster) if fabric.waveguides == "shared" and fabric.num_servers > 1 else None

    def needs_devices_alone(self, cluster: Cluster) -> bool:
        """Where tiles are alike, circuits inside a server have a way of their own."""
        return not (cluster.fabric.slots_matter or cluster.has_failed_light or _shares_memory(cluster))

    def place_blocks(self, model: cp_model.CpModel, v: Variables, cluster: Cluster, j: int, demand: Demand) -> None:
        """Blocks by server, and the light that this takes between servers: exact for every pair, or for what leaves and
        enters a server where circuits may cross others."""
        job, light = v.jobs[j], light_variables(v).jobs[j].reserved
        if not job.classes or not demand.has_light or demand.racks > 1:
            return
        counts = job.blocks[BlockKind.of(demand)]
        servers = range(len(counts))
        on = {(block, s): model.new_bool_var("") for block in range(demand.num_blocks) for s in servers}
        for block in range(demand.num_blocks):
            model.add_exactly_one(on[block, s] for s in servers)
        for s in servers:
            model.add(sum(on[block, s] for block in range(demand.num_blocks)) == counts[s])
        tables, ways = demand.between_blocks, Routes(cluster)
        for a in servers:
            others = [b for b in servers if b != a]
            for b in others:
                if not ways.may_cross or not ways.joins(a, b):
                    reserve(model, tables, on, a, (b,), light.get((a, b), 0))
            if ways.may_cross:
                out, into = ([w for pair, w in light.items() if pair[end] == a] for end in (0, 1))
                reserve(model, tables, on, a, others, sum(out))
                reserve(model, [table.reversed for table in tables], on, a, others, sum(into))

    def dark_fibers(self, cluster: Cluster, assignments: Sequence[Assignment]) -> dict[Pair, int]:
        light = Spectrum(cluster)
        for assignment in assignments:
            light.commit(assignment.circuits)
        servers = range(cluster.fabric.num_servers)
        return {(a, b): light.dark_fibers(a, b) for a in servers for b in servers if light.routes.fibers(a, b)}


def _leaving(carried: int) -> Callable[[Demand], Mapping[int, int]]:
    """Least light that leaves a server with so many parts of a demand, by the counts that may be, where a fiber carries
    so many wavelengths."""

    @cache
    def leaving(demand: Demand) -> Mapping[int, int]:
        least = least_crossing(demand, carried) if demand.has_light else [0] * demand.num_blocks
        return {count: least[count] for count in range(1, demand.num_blocks) if least[count] != IMPOSSIBLE}

    return leaving


def _shares_memory(cluster: Cluster) -> bool:
    assert isinstance(cluster.fabric, Lightpath)
    return cluster.fabric.shared is not None


def _are_alike(cluster: Cluster) -> bool:
    """Whether servers of one rack have the same fibers to all others, and all of their light."""
    fabric = cluster.fabric
    assert isinstance(fabric, Lightpath)
    return (
        isinstance(fabric.fibers, int)
        and fabric.racks == 1
        and not fabric.slots_matter
        and not cluster.health.failed_fibers
        and not cluster.has_failed_light
    )
