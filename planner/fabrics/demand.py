"""Circuits that a configuration asks for, and how many wavelengths must leave any part of its ranks."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import gcd, prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Circuits, FabricBase, GroupPlan, SliceShape, links_of, plans_by_pool, racks_of
from costmodel.fabrics.across_racks import AcrossRacks
from costmodel.fabrics.ocs_rail import ports_of
from costmodel.fabrics.turns import Turns, most_at_once
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees
from costmodel.parallelism.mappings import DIMENSIONS, Dimension
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.servers_by_rack import ServersByRack
from planner.fabrics import plugin_of
from planner.fabrics.boundary import boundary_of
from planner.fabrics.circuits_between import Between
from planner.fabrics.laid_circuits import Laid, at_once, laid

Served = Literal[Dimension, "slice"]
"""what held circuits serve: the groups along a dimension, or the links of a whole slice"""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Demand:
    """Degrees of parallelism, block and group plans: all that circuits depend on."""

    tensor: int
    pipeline: int
    data: int
    block: int
    plans: tuple[GroupPlan, ...]
    """along tensor, pipeline and data, and where they hold circuits along context and expert too"""
    cut: SliceShape = ()
    """what the job takes of each of its servers, where the fabric cuts slices"""
    is_even: bool = False
    """whether each server of the job takes one part, no more"""
    servers_by_rack: ServersByRack | None = None
    """servers that it takes of each rack, where that is asked"""
    memory_units: int = 0
    """units of remote memory for each rank"""
    memory_io: int = 0
    """I/Os of each rank that serve memory"""
    tier_units: int = 0
    """of a second tier behind remote memory, for each rank"""
    phase: str = ""
    """of the workload, where phases have different shapes"""
    first: "Demand | None" = None
    """shape in the first phase, where it is another one"""
    context: int = 1
    expert: int = 1
    """where its groups hold circuits; else 1"""
    prefill: int = 0
    """of the replicas, the first so many run prompts, where their degree is `prefill_tensor`, not `tensor`"""
    prefill_tensor: int = 0
    prefill_expert: int = 1
    """as `expert`"""
    turns: Turns = ()
    """in which its circuits are on; () where all are as long as it runs, or as the fabric always has it"""
    is_part: bool = False
    """whether it is what a job over several racks asks for in one of them"""

    @cached_property
    def by_phase(self) -> tuple["Demand", ...]:
        """Shapes of the first and the last phase; itself where they are the same."""
        return (self,) if self.first is None else (self.first, replace(self, first=None))

    @cached_property
    def held_units(self) -> int:
        """Units of remote memory that a rank holds through all phases."""
        return max(shape.memory_units for shape in self.by_phase)

    @cached_property
    def held_io(self) -> int:
        """I/Os of a rank that serve memory in some phase."""
        return max(shape.memory_io for shape in self.by_phase)

    @cached_property
    def num_ranks(self) -> int:
        return self.degrees.num_devices

    @cached_property
    def degrees(self) -> Degrees:
        """Degrees as far as circuits depend on them."""
        own = (self.prefill, self.prefill_tensor, self.prefill_expert) if self.prefill_tensor else ()
        return Degrees(self.tensor, self.pipeline, self.data, self.context, self.expert, RANK_ORDERS[0], *own)

    @property
    def num_blocks(self) -> int:
        return self.num_ranks // self.block

    @cached_property
    def racks(self) -> int:
        """Racks in which the job lies, with equal runs of its ranks."""
        return racks_of(self.plans[2])

    @cached_property
    def links(self) -> int:
        """Of the layer above racks, held of each part that the job uses."""
        return links_of(self.plans[2])

    @cached_property
    def in_rack(self) -> "Demand":
        """What it asks for in each of its racks; itself where that is one."""
        data = self.plans[2]
        if not isinstance(data, AcrossRacks):
            return self
        plans, first = (*self.plans[:2], data.inner, *self.plans[3:]), self.first and self.first.in_rack
        part = replace(self, data=self.data // data.racks, plans=plans, first=first, is_part=True)
        return replace(part, servers_by_rack=None)

    @cached_property
    def part(self) -> int:
        """Ranks that a server takes together: a block, or one or several slices where the fabric cuts them."""
        return max(prod(self.cut), self.block) if self.cut else self.block

    @property
    def is_single(self) -> bool:
        return self.num_ranks == 1 and not self.is_part

    @cached_property
    def num_parts(self) -> int:
        return self.num_ranks // self.part

    @property
    def most_parts(self) -> int:
        """Parts that one server may take."""
        return 1 if self.is_even else self.num_parts

    @property
    def slices_together(self) -> int:
        """Slices that a server takes together, where the fabric cuts them."""
        return self.part // prod(self.cut)

    @cached_property
    def num_ports(self) -> int:
        """Ports by which each rank sends, and receives, where the circuits of all dimensions, or of those that share
        a turn, are held at once."""
        ports = [*map(ports_of, self.plans)]
        return most_at_once(self.turns, ports) if self.turns else sum(ports)

    @cached_property
    def configurations(self) -> tuple[tuple[Served, Circuits], ...]:
        """Circuits (source rank, destination rank, wavelengths) held at the same time, by dimension."""
        return tuple((name, circuits) for name, found in self._laid for circuits in found.circuits)

    @cached_property
    def _laid(self) -> tuple[tuple[Dimension, Laid], ...]:
        """Plans that hold circuits, on all groups of their dimension."""
        found = []
        for name, plan in zip(DIMENSIONS, self.plans, strict=False):
            pools = plans_by_pool(plan)
            of_pools = (self.degrees,) if len(pools) == 1 else (self.degrees.of_prompts, self.degrees)
            lit = [(each, of) for each, of in zip(pools, of_pools, strict=True) if each.configurations()]
            if lit:
                found.append((name, at_once([laid(each, of, name) for each, of in lit])))
        return tuple(found)

    @cached_property
    def between_blocks(self) -> tuple[Between, ...]:
        """Wavelengths from block to block in each configuration, distinct ones only."""
        tables = (found.between(self.block, self.num_blocks) for _, found in self._laid)
        return tuple(dict.fromkeys(chain.from_iterable(tables)))

    @cached_property
    def boundary(self) -> Ints:
        """Least wavelengths that leave, in one configuration, a set of c of the blocks; shape (blocks + 1,).

        A lower bound for every choice of the c blocks, exact up to MAX_EXACT_BLOCKS blocks. As many enter:
        in each configuration every rank receives what it sends, or circuits run both ways.
        """
        return boundary_of(self)

    @cached_property
    def unit(self) -> int:
        """Greatest common width of the circuits between blocks: what crosses a pair of servers is a multiple."""
        widths = {
            width
            for _, circuits in self.configurations
            for source, destination, width in circuits
            if source // self.block != destination // self.block
        }
        return gcd(*widths) if widths else 1

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        """As many parts of demands with equal ones fit on each server."""
        return self.num_ranks, self.block, self.cut, self.part

    @property
    def key(self) -> tuple[object, ...]:
        """Demands with equal ones find a place, or none, together, light aside."""
        return self.room_key

    @property
    def holds_circuits(self) -> bool:
        """True if a job holds optical circuits, where the fabric has them."""
        return bool(self.cut) or bool(self.configurations)

    @property
    def pooled_units(self) -> int:
        """Units of a pool that each rank holds; 0 where memory is no pool."""
        return 0

    @property
    def chooses_servers(self) -> bool:
        """True if the fabric chooses servers together with what else the job needs, so that no strategy does."""
        return False

    @property
    def is_apart(self) -> bool:
        """True if no two parts of the job may lie in one server."""
        return self.is_even

    @property
    def has_light(self) -> bool:
        """True if spreading the job over servers needs fibers."""
        return bool(self.boundary.any())

    @property
    def has_whole_groups(self) -> bool:
        """True if blocks are whole tensor groups, or ranks of the only one: the plans show how blocks are joined."""
        if self.prefill_tensor:
            return False
        return self.block == self.tensor or (self.block == 1 and self.tensor == self.num_ranks)

    def needs_no_more_than(self, other: "Demand") -> bool:
        """True if this demand finds a place wherever the other one does: here the same circuits, each at most as wide.

        Sufficient, not necessary; no-goods of this demand then hold for the other.
        """
        if self.cut:
            return (self.num_ranks, self.part, self.cut) == (other.num_ranks, other.part, other.cut)
        own, others = ((d.degrees, d.block, d.memory_units, d.memory_io, d.tier_units) for d in (self, other))
        if own != others:
            return False
        if self.first is not None or other.first is not None:
            return self == other
        mine, theirs = ([each for plan in demand.plans for each in plans_by_pool(plan)] for demand in (self, other))
        return len(mine) == len(theirs) and all(
            (p.kind, p.ranks, p.radices, p.held, racks_of(p)) == (q.kind, q.ranks, q.radices, q.held, racks_of(q))
            and links_of(p) <= links_of(q)
            and all(w <= v for w, v in zip(p.wavelengths, q.wavelengths, strict=True))
            for p, q in zip(mine, theirs, strict=True)
        )

    @cached_property
    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """First wavelength of each circuit in a colouring that is right on every tile, as `configurations`."""
        return tuple(offsets for _, found in self._laid for offsets in found.offsets)


def shape_of(
    candidates: Candidates,
    row: int,
    fabric: FabricBase,
    *,
    is_even: bool = False,
    servers_by_rack: ServersByRack | None = None,
) -> Demand:
    """Shape of one candidate; `is_even` where the job asks for as many ranks on each of its servers, which may be for
    numbers of these `servers_by_rack`."""
    phase, first = "", None
    if candidates.has_phases[row]:
        names = candidates.workload.phases
        before = candidates.in_first_phase()
        earlier = shape_of(before, row, fabric, is_even=is_even, servers_by_rack=servers_by_rack)
        phase, first = names[-1], replace(earlier, phase=names[0])
    m, split = candidates.mapping[row], candidates.splits[candidates.split[row]]
    plans = candidates.row_plans(row)
    has_more = any(each.configurations() for plan in plans[3:] for each in plans_by_pool(plan))
    return plugin_of(fabric).demand_type(fabric)(
        tensor=int(candidates.mappings.tensor[m]),
        pipeline=int(candidates.mappings.pipeline[m]),
        data=int(candidates.mappings.data[m]),
        block=int(candidates.block[row]),
        plans=tuple(plans if has_more else plans[:3]),
        cut=fabric.cut(plans),
        is_even=is_even,
        servers_by_rack=servers_by_rack,
        memory_units=split.memory_units or 0,
        memory_io=split.memory_io or 0,
        tier_units=split.tier_units or 0,
        phase=phase,
        first=first,
        context=int(candidates.mappings.context[m]),
        expert=int(candidates.mappings.expert[m]) if has_more else 1,
        prefill=int(candidates.mappings.prefill[m]) if candidates.mappings.prefill_tensor[m] else 0,
        prefill_tensor=int(candidates.mappings.prefill_tensor[m]),
        prefill_expert=int(candidates.mappings.prefill_expert[m]) if has_more else 1,
        turns=split.fabric.turns,
    )
