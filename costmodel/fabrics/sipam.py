"""Racks in which every accelerator divides its photonic I/Os between a pool of memory units and the network.

Source: Wu and Bergman, Flexible Photonic Memory Pooling Architecture For Efficient Compute Resource Allocation
(SiPAM), 2025. Numbers of trays, rails and switch ports are not in the paper.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

from pydantic import Field

from costmodel.collectives.circulant_offers import Offered
from costmodel.fabrics.base import Split
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan, PlanMenu, divisors_down
from costmodel.fabrics.held_plans import held_all_to_alls, held_reductions, held_transfers
from costmodel.fabrics.held_together import Choices, choices_within, menu_key
from costmodel.fabrics.pool_rack import PoolRack
from costmodel.hardware.device import Device
from costmodel.memory_pool.demand import WorkloadDemand
from costmodel.memory_pool.loop import Allocation, allocate
from costmodel.memory_pool.pool import MemoryPool
from costmodel.parallelism.mappings import Dimension
from costmodel.workloads import Workload
from costmodel.workloads.transformer.joined_serving import JoinedServing

LISTED_UNITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""memory units of an accelerator that are listed unless `memory_grid` says otherwise"""


class Sipam(PoolRack):
    """Jobs take accelerators, memory units and ports from the pool of a rack, and what I/Os are left for the network.

    A job keeps its circuits as long as it runs, those of all dimensions at once. Groups that may leave a server use
    spine rails; groups inside a server use any rails.
    """

    kind: Literal["sipam"] = "sipam"
    collectives: Offered = Field(default="families", exclude_if=lambda offered: offered == "families")
    """circulants: groups may also hold circuits that lead a few fixed numbers of ranks ahead, with schedules for them
    that software of the job reads; families: rings, mixed radices, exchanges and relays alone"""

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        """The whole job in one server; or tensor groups, replicas, or what fills a server, each in some server."""
        whole, sizes = self.devices_per_server, {num_devices}
        if self.uplinks and self.spine_rails:
            sizes |= {spans[0], spans[3]}
            if num_devices % whole == 0 and whole % spans[0] == 0:
                sizes.add(whole)
        return sorted(size for size in sizes if size <= whole)

    def splits(self, device: Device, workload: Workload | None = None) -> Sequence[Split]:
        """One for each listed number of memory units; for none too where memory is local, and elsewhere for what the
        SiPAM loop gives the workload, or each of several that are listed together."""
        units = set(self.memory_grid or LISTED_UNITS)
        if self.local_memory:
            units.add(0)
        elif workload is not None:
            jobs = workload.jobs if isinstance(workload, JoinedServing) else (workload,)
            units.update(self.loop_units(device, job) for job in jobs)
        asked = _Asked(f"{self._text}{device.model_dump_json()}", self, device)
        return tuple(_split(asked, number) for number in sorted(units) if number <= self.most_units)

    def loop(self, device: Device, workload: Workload) -> Allocation:
        """What the SiPAM loop gives a workload on these parts; ValueError where it divides over no number."""
        text = f"{self._text}{device.model_dump_json()}{workload.model_dump_json()}"
        return _loop(_Asked(text, self, device), _Of(workload))

    def loop_units(self, device: Device, workload: Workload) -> int:
        """Units of an accelerator by the loop, as far as ports reach."""
        return min(self.loop(device, workload).result.units, self.most_units)

    @property
    def resetting_s(self) -> float | None:
        return self.reconfiguration_s

    @cached_property
    def pool(self) -> MemoryPool:
        return MemoryPool(shoreline=self.shoreline, unit=self.memory_unit, network_io=self.spine_rails)

    @cached_property
    def _text(self) -> str:
        return self.model_dump_json()

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.energy_j_per_byte


class NetworkShare(Sipam):
    """The fabric as a job sees it whose accelerators leave so many I/Os to the network."""

    network_io: int = Field(ge=0)

    @cached_property
    def layout_key(self) -> str:
        return f"{type(self).__name__} {self.model_dump_json(exclude={'network_io'})}"

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        rails = self.network_io if one_server else min(self.network_io, self.spine_rails)
        if dimension == "pipeline":
            return self._lines(ranks, rails)
        if rails == 0:
            return ()
        limits = rails, self.alpha_s, self.shoreline.io.bandwidth_bytes_per_s, self.collectives
        if dimension == "expert":
            return held_all_to_alls(ranks, *limits)
        found = held_reductions(dimension, ranks, *limits)
        if one_server:
            return found
        return tuple(plan for plan in found if plan.kind != "ring" or plan.wavelengths[0] in divisors_down(rails))

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> tuple[GroupPlan, ...]:
        """Circuits of all pairs at once, over any number of I/Os that the busiest replica has for each peer."""
        rails = self.network_io if one_server else min(self.network_io, self.spine_rails)
        if each != (1, 1):
            return ()
        return held_transfers(prefill, decode, rails, self.alpha_s, self.shoreline.io.bandwidth_bytes_per_s)

    def _lines(self, stages: int, rails: int) -> tuple[GroupPlan, ...]:
        neighbours, rate = 1 if stages == 2 else 2, self.shoreline.io.bandwidth_bytes_per_s
        widths = divisors_down(rails // neighbours) if rails >= neighbours else ()
        return tuple(LinkPlan("line", stages, self.alpha_s, 1 / (width * rate), 1.0, (width,)) for width in widths)

    def combinations(self, menus: Sequence[Sequence[GroupPlan]], is_confined: Sequence[bool]) -> Choices:
        """Plans held together on the I/Os of the network, those that may leave a server on spine rails.

        Of groups inside a server, no plan is listed that the I/Os left idle would allow to replace by a better one.
        """
        return choices_within(menus, tuple(is_confined), self.network_io, self.spine_rails)

    def menu_key(self, menu: PlanMenu) -> Hashable:
        return menu_key(menu, self.network_io)


@dataclass(frozen=True)
class _Asked:
    """All that an answer depends on, by its text; the objects come along."""

    text: str
    fabric: Sipam = field(compare=False)
    device: Device = field(compare=False)


@dataclass(frozen=True)
class _Of:
    workload: Workload = field(compare=False)


@lru_cache(maxsize=4096)
def _split(asked: _Asked, units: int) -> Split:
    fabric, memory_io = asked.fabric, asked.fabric.memory_io(units)
    share = _share(asked, fabric.num_io - memory_io)
    if units == 0:
        return Split(asked.device, share)
    memory = fabric.pool.choices(units)
    if fabric.local_memory:
        tier = memory.tier(0)
        tiered = asked.device.model_copy(update={"offload": tier})
        return Split(tiered, share, units, memory_io, second_tiers=(tier.name,))
    return Split(memory.device(0, asked.device), share, units, memory_io)


@lru_cache(maxsize=4096)
def _share(asked: _Asked, network_io: int) -> NetworkShare:
    """One for all splits that leave as many I/Os to the network."""
    return NetworkShare.model_construct(**dict(asked.fabric), network_io=network_io)


@lru_cache(maxsize=4096)
def _loop(asked: _Asked, of: _Of) -> Allocation:
    flops_per_s = asked.device.matrix_flops_per_s(of.workload.precision)
    return allocate(WorkloadDemand(of.workload, asked.device), flops_per_s, asked.fabric.pool)
