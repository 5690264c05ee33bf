"""Demand of a job on racks with pooled memory: units, I/Os, rails and uplinks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.hashed_once import HashedOnce
from costmodel.fabrics import GroupPlan
from costmodel.fabrics.across_racks import AcrossRacks
from costmodel.fabrics.ocs_rail import ports_of
from costmodel.parallelism.mappings import DIMENSIONS, distinct_rows
from costmodel.pricing.candidates import Candidates
from planner.fabrics.demand import Demand
from planner.fabrics.kept_circuits import while_kept
from planner.fabrics.sipam.crossing import Groups, most_crossing

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PoolDemand(HashedOnce):
    """Of each rank, and of each server of a job that lies in several."""

    __hash__ = HashedOnce.__hash__

    units: int
    """memory units of a rank"""
    memory_io: int
    """I/Os of a rank that serve memory"""
    across: int
    """rails of groups that may leave a server: spine rails"""
    inside: int
    """rails of groups that stay in a server"""
    uplinks: int
    """reserved each way on each rail of `across` in each server of a job that lies in several: as many as circuits of
    one rail leave, or enter, any consecutive blocks"""
    phases: tuple["PoolDemand", ...] = ()
    """what each phase asks for, where these differ; all else is then the most of them"""

    @staticmethod
    def of(demand: Demand) -> "PoolDemand":
        """That of a demand on this fabric."""
        assert isinstance(demand, SipamDemand)
        return demand.pool

    @property
    def by_phase(self) -> tuple["PoolDemand", ...]:
        """Demands of the first and the last phase; itself where they ask for the same."""
        return self.phases or (self,)

    @property
    def by_memory(self) -> tuple["PoolDemand", "PoolDemand"]:
        """Demand of the phase with more memory, and of the other one."""
        first, last = self.by_phase[0], self.by_phase[-1]
        return (first, last) if first.units > last.units else (last, first)

    def local_network(self, spine: int) -> int:
        """Local rails that the network takes in a server with so many working spine rails."""
        return max(self.across + self.inside - spine, 0)

    def needs_no_more_than(self, other: "PoolDemand") -> bool:
        """In each phase the same memory, and at most as many rails and uplinks."""
        return all(
            mine.units == theirs.units
            and mine.across <= theirs.across
            and mine.inside <= theirs.inside
            and mine.uplinks <= theirs.uplinks
            for mine, theirs in zip(self.by_memory, other.by_memory, strict=True)
        )


@dataclass(frozen=True)
class SipamDemand(Demand):
    """A job also takes memory units, ports, rails and uplinks."""

    @cached_property
    def room_key(self) -> tuple[object, ...]:
        return self.num_ranks, self.block, self.part, self.held_units, self.held_io

    @cached_property
    def pool(self) -> PoolDemand:
        """The demand on racks with pooled memory; that of the part in each rack of a job over several."""
        return _pool_demand(self.in_rack)

    @cached_property
    def key(self) -> tuple[object, ...]:
        return *self.room_key, self.pool

    @property
    def pooled_units(self) -> int:
        return self.held_units

    @property
    def holds_circuits(self) -> bool:
        return self.held_units > 0 or super().holds_circuits

    def needs_no_more_than(self, other: Demand) -> bool:
        """The same blocks, and no more of the pool."""
        is_alike = (self.num_ranks, self.block) == (other.num_ranks, other.block)
        return self.pool.needs_no_more_than(PoolDemand.of(other)) and is_alike


def is_inside(shape: Demand) -> tuple[bool, ...]:
    """True if the groups along each dimension that has a plan surely lie in one server each, in every rack."""
    shape = shape.in_rack
    block, inner = shape.block, shape.tensor * shape.context
    whole, stages = block == shape.num_ranks, inner * shape.pipeline
    is_joined = shape.context == 1 or block % inner == 0
    every = (
        block % shape.tensor == 0,
        whole or block % stages == 0,
        whole or (shape.data == 1 and is_joined),
        whole or is_joined,
        whole or shape.expert == 1 or block % (stages * shape.expert) == 0,
    )
    return every[: len(shape.plans)]


@while_kept
def _pool_demand(shape: Demand) -> PoolDemand:
    phases = tuple(
        PoolDemand(
            each.memory_units,
            each.memory_io,
            *_network(
                replace(each, memory_units=0, memory_io=0, phase="", is_even=False, servers_by_rack=None, is_part=False)
            ),
        )
        for each in shape.by_phase
    )
    if len(phases) == 1:
        return phases[0]
    across = max(each.across for each in phases)
    return PoolDemand(
        units=shape.held_units,
        memory_io=shape.held_io,
        across=across,
        inside=max(each.across + each.inside for each in phases) - across,
        uplinks=max(each.uplinks for each in phases),
        phases=phases,
    )


@lru_cache(maxsize=10_000)
def _network(shape: Demand) -> tuple[int, int, int]:
    """Rails across and inside, and uplinks, of a shape without memory."""
    ports = [ports_of(plan) for plan in shape.plans]
    across = sum(number for number, stays in zip(ports, is_inside(shape), strict=True) if not stays)
    return across, sum(ports) - across, _most_crossing(shape) if across else 0


def held_of_rank(candidates: Candidates) -> Ints:
    """Memory units and memory I/Os that a rank holds through all phases, shape (2, C)."""
    splits = np.array([(s.memory_units or 0, s.memory_io or 0) for s in candidates.splits], np.int64).T
    phases = candidates.in_first_phase(), candidates.in_last_phase()
    return np.maximum(*(splits[:, each.split] for each in phases))


def asked_across(candidates: Candidates) -> Ints:
    """`across` and `uplinks` of rows of more than one block in a rack, the most of them in any phase, shape (2, C)."""
    return asked_across_of_each([candidates])[0]


def asked_across_of_each(tables: Sequence[Candidates]) -> list[Ints]:
    """The same of several tables of rows: what their rows share is found once."""
    phased = [number for number, table in enumerate(tables) if table.first_plan is not None]
    settings = [*(table.in_last_phase() for table in tables), *(tables[number].in_first_phase() for number in phased)]
    ends = np.cumsum([len(each) for each in settings])[:-1]
    found = np.split(_asked_in_phase(settings), ends, axis=1) if settings else []
    for number, first in zip(phased, found[len(tables) :], strict=True):
        found[number] = np.maximum(found[number], first)
    return found[: len(tables)]


def _asked_in_phase(tables: Sequence[Candidates]) -> Ints:
    """The same of all rows of tables with one setting, one after the other: what rows share that differ in the plans of
    other dimensions is found once."""
    number: dict[GroupPlan, int] = {}
    numbers = [np.array([number.setdefault(plan, len(number)) for plan in each.plans], np.int64) for each in tables]
    plan = np.concatenate([mine[each.plan] for mine, each in zip(numbers, tables, strict=True)], axis=1)
    plans = tuple(number)
    degrees = np.concatenate([_degrees_in_rack(each) for each in tables], axis=1)
    tensor, pipeline, data, context, expert = degrees
    block, ports = np.concatenate([each.block for each in tables]).astype(np.int64), ports_of_each(plans)
    stages, parts = tensor * context * pipeline, (context > 1) & (block % (tensor * context) != 0)
    leaves = (
        block % tensor != 0,
        block % stages != 0,
        (data != 1) | parts,
        parts,
        (expert > 1) & (block % (stages * expert) != 0),
    )
    asked = np.zeros((2, len(block)), np.int64)
    for axis, out in enumerate(leaves):
        rows = np.flatnonzero(out)
        if not len(rows):
            continue
        columns = [*(each[rows] for each in (*degrees, block)), plan[axis, rows]]
        first, kind = distinct_rows(columns)
        each = zip(*(column[first].tolist() for column in columns), strict=True)
        most = most_crossing([Groups((*ranks,), b, _in_rack(plans[of]), axis) for *ranks, b, of in each])
        crossing = np.array(most, np.int64)
        asked[0, rows] += ports[plan[axis, rows]]
        asked[1, rows] = np.maximum(asked[1, rows], crossing[kind])
    return asked


def _degrees_in_rack(candidates: Candidates) -> Ints:
    """Degrees of tensor, pipeline, data, context and expert of each row in each of its racks, shape (5, C)."""
    names = ("tensor", "pipeline", "data", "context", "expert")
    degrees = np.stack([getattr(candidates.mappings, name)[candidates.mapping].astype(np.int64) for name in names])
    degrees[2] //= candidates.racks
    return degrees


def _in_rack(plan: GroupPlan) -> GroupPlan:
    return plan.inner if isinstance(plan, AcrossRacks) else plan


@lru_cache(maxsize=64)
def ports_of_each(plans: tuple[GroupPlan, ...]) -> Ints:
    """I/Os of a rank that serve each of some plans."""
    return np.array([ports_of(plan) for plan in plans], np.int64)


def first_colours(shape: Demand) -> dict[str, int]:
    """First colour of each dimension: those of groups that may leave a server come first."""
    first: dict[str, int] = {}
    colour = 0
    for stays in (False, True):
        for name, plan, here in zip(DIMENSIONS, shape.plans, is_inside(shape), strict=False):
            if here is stays:
                first[name] = colour
                colour += ports_of(plan)
    return first


def _most_crossing(shape: Demand) -> int:
    """Most circuits of one colour that leave, or enter, a run of consecutive blocks, not all of them."""
    each = enumerate(zip(shape.plans, is_inside(shape), strict=True))
    d = shape.degrees
    ranks = d.tensor, d.pipeline, d.data, d.context, d.expert
    return max(most_crossing([Groups(ranks, shape.block, plan, axis) for axis, (plan, stays) in each if not stays]))
