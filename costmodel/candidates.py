"""Candidates: every way in which a job may run, one row each, with all that its score depends on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.configuration import Collective, Configuration
from costmodel.fabrics import FabricBase, GroupPlan, Split
from costmodel.hardware import Device
from costmodel.mappings import CHOICES, DIMENSIONS, Dimension, Mappings, distinct_rows
from costmodel.opgraph import OpGraph
from costmodel.parallelism import Degrees
from costmodel.workloads import Workload

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Listed = dict[tuple[Dimension, int, int], tuple[int, ...]]
"""numbers of the plans of a group by dimension, ranks, and how many of them share a server"""
BlocksOf = Callable[[FabricBase, Sequence[int], int], Sequence[int]]
"""blocks to list, given the sizes of the groups that should not be torn apart, and the number of devices"""
REDUCING = ("tensor", "data", "context")
"""dimensions along which messages are all-reduced"""
CHUNK = 1 << 14
"""mappings looked at together: their columns stay in the cache"""


@dataclass(frozen=True)
class Candidates:
    """Configurations of one workload, columns of shape (C,); `mapping` indexes `mappings`, `split` indexes `splits`.

    `plan` has shape (5, C): the row of `plans` used along each of DIMENSIONS.
    """

    workload: Workload
    mappings: Mappings
    mapping: Ints
    block: Ints
    plan: Ints
    plans: tuple[GroupPlan, ...]
    split: Ints
    splits: tuple[Split, ...]

    def __len__(self) -> int:
        return len(self.mapping)

    @property
    def num_devices(self) -> Ints:
        return np.asarray(self.mappings.num_devices[self.mapping])

    def row_plans(self, row: int) -> list[GroupPlan]:
        """Plans along each of DIMENSIONS."""
        return [self.plans[plan] for plan in self.plan[:, row]]

    def configuration(self, row: int) -> Configuration:
        """The row as it is written in a plan."""
        collectives = {
            f"{dimension}_collective": Collective.of(plan)
            for dimension, plan in zip(DIMENSIONS, self.row_plans(row), strict=True)
        }
        choice, split = self.mappings.choice(int(self.mapping[row])), self.splits[self.split[row]]
        return Configuration.of_choice(
            choice,
            self.workload.menus(),
            memory_units=split.memory_units,
            memory_io=split.memory_io,
            block=int(self.block[row]),
            **collectives,
        )

    def take(self, rows: Ints | slice) -> "Candidates":
        """The given rows, in this order."""
        return replace(
            self, mapping=self.mapping[rows], block=self.block[rows], plan=self.plan[:, rows], split=self.split[rows]
        )

    def part(self, rows: Ints | slice, device: Device) -> tuple["Candidates", OpGraph]:
        """Some rows with their own mappings alone, and what these execute."""
        part = self.take(rows)
        order = np.arange(len(part)) if np.all(part.mapping[1:] >= part.mapping[:-1]) else np.argsort(part.mapping)
        in_order = part.mapping[order]
        is_first = np.concatenate([np.ones(min(1, len(part)), np.bool_), in_order[1:] > in_order[:-1]])
        mapping = np.empty(len(part), np.int32)
        mapping[order] = np.cumsum(is_first) - 1
        mappings = self.mappings.take(in_order[is_first])
        return replace(part, mappings=mappings, mapping=mapping), self.workload.op_graph(mappings, device)

    def is_confined(self) -> Bools:
        """Whether the groups along each dimension surely lie in one server, shape (5, C)."""
        m = self.mappings
        tensor = m.tensor[self.mapping].astype(np.int64)
        context = tensor * m.context[self.mapping]
        stages = context * m.pipeline[self.mapping]
        expert = context * m.expert[self.mapping]
        by_name = {
            "tensor": self.block % tensor == 0,
            "context": self.block % context == 0,
            "pipeline": self.block % stages == 0,
            "data": (m.data[self.mapping] == 1) & (self.block % context == 0),
            "expert": (m.pipeline[self.mapping] == 1) & (self.block % expert == 0),
        }
        is_whole = self.block == self.num_devices
        return np.stack([is_whole | by_name[dimension] for dimension in DIMENSIONS])


def enumerate_candidates(
    workload: Workload,
    sizes: Sequence[int],
    device: Device,
    fabric: FabricBase,
    *,
    one_server: bool = False,
    collective: str | None = None,
) -> Candidates:
    """Every mapping of the workload on each size that fits in memory, under every plan of the fabric.

    `one_server` keeps the whole job in one server; `collective` keeps only plans of that kind along
    the dimensions that all-reduce.
    """
    mappings = Mappings.concatenate([workload.mappings(size) for size in sizes])
    return list_candidates(workload, mappings, device, fabric, blocks=_listed_blocks(one_server), collective=collective)


def list_candidates(
    workload: Workload,
    mappings: Mappings,
    device: Device,
    fabric: FabricBase,
    *,
    blocks: BlocksOf,
    collective: str | None = None,
) -> Candidates:
    """Every plan of the given mappings that fit in memory, under every split of the I/O; `blocks` lists the blocks of
    some degrees."""
    splits, plans = tuple(fabric.splits(device, workload)), dict[GroupPlan, int]()
    listed = [_list_split(workload, mappings, split, plans, blocks, collective) for split in splits]
    first = np.cumsum([0, *(len(fitting) for fitting, _, _ in listed)])
    return Candidates(
        workload=workload,
        mappings=listed[0][0] if len(listed) == 1 else Mappings.concatenate([fitting for fitting, _, _ in listed]),
        mapping=np.concatenate([start + mapping for start, (_, mapping, _) in zip(first, listed, strict=False)]),
        block=np.concatenate([table[:, 0] for _, _, table in listed]),
        plan=np.concatenate([table[:, 1:] for _, _, table in listed]).T.copy(),
        plans=tuple(plans),
        split=np.repeat(np.arange(len(splits), dtype=np.int32), [len(mapping) for _, mapping, _ in listed]),
        splits=splits,
    )


def _list_split(
    workload: Workload,
    mappings: Mappings,
    split: Split,
    plans: dict[GroupPlan, int],
    blocks: BlocksOf,
    collective: str | None,
) -> tuple[Mappings, Ints, Ints]:
    """Mappings that fit, the mapping of each row, and its block and numbers of plans, shape (rows, 6)."""
    mappings = mappings.take(_fitting(workload, mappings, split.device))
    degrees = group_degrees(mappings)
    first, of = distinct_rows([*degrees, mappings.num_devices])
    listed: Listed = {}
    options: list[tuple[int, ...]] = []
    starts = [0]
    for m in first:
        choices = _Choices(workload, split.fabric, degrees[:, m].tolist(), int(mappings.num_devices[m]), collective)
        options += choices.rows(blocks, plans, listed)
        starts.append(len(options))
    start, number = np.array(starts[:-1], np.int64), np.diff(starts)
    repeats = number[of]
    mapping = np.repeat(np.arange(len(mappings), dtype=np.int32), repeats)
    nth = np.arange(len(mapping)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    table = np.array(options, np.int32).reshape(-1, 1 + len(DIMENSIONS))[np.repeat(start[of], repeats) + nth]
    return mappings, mapping, table


def group_degrees(mappings: Mappings) -> Ints:
    """Ranks of the groups along each dimension, shape (5, M): context ranks share a data group."""
    columns = [mappings.tensor, mappings.pipeline, mappings.data * mappings.context.astype(np.int32)]
    return np.stack([*(c.astype(np.int32) for c in columns), mappings.context, mappings.expert]).astype(np.int32)


def _fitting(workload: Workload, mappings: Mappings, device: Device) -> Bools:
    """Which mappings fit in memory, shape (M,)."""
    kept = [np.zeros(0, np.bool_)]
    tier = device.offload.capacity_bytes if device.offload else 0.0
    for start in range(0, len(mappings), CHUNK):
        local_bytes, tier_bytes = workload.footprint(mappings.take(slice(start, start + CHUNK)))
        kept.append((local_bytes <= device.capacity_bytes) & (tier_bytes <= tier))
    return np.concatenate(kept)


def _listed_blocks(one_server: bool) -> BlocksOf:
    def blocks(fabric: FabricBase, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        if one_server:
            return (num_devices,) if num_devices <= fabric.devices_per_server else ()
        return fabric.blocks(spans, num_devices)

    return blocks


@dataclass(frozen=True)
class _Choices:
    """Degrees of parallelism whose blocks and plans are listed together."""

    workload: Workload
    fabric: FabricBase
    degrees: Sequence[int]
    """by DIMENSIONS"""
    num_devices: int
    collective: str | None

    def rows(self, blocks: BlocksOf, plans: dict[GroupPlan, int], listed: Listed) -> Iterator[tuple[int, ...]]:
        """Block and number of the plan along each dimension, of every combination."""
        tensor, pipeline, shards, context, expert = self.degrees
        degrees, inner = Degrees(tensor, pipeline, shards // context, context, expert), tensor * context
        spans = (tensor, inner, inner * expert if pipeline == 1 else inner, inner * pipeline)
        for block in blocks(self.fabric, spans, self.num_devices):
            options = []
            for dimension in DIMENSIONS:
                key = dimension, degrees.ranks(dimension), degrees.ranks_together(dimension, block)
                if key not in listed:
                    found = self._plans(degrees, dimension, block)
                    listed[key] = tuple(plans.setdefault(plan, len(plans)) for plan in found)
                options.append(listed[key])
            numbered = tuple(plans)
            menus = [[numbered[number] for number in numbers] for numbers in options]
            confined = [degrees.ranks_together(d, block) == degrees.ranks(d) for d in DIMENSIONS]
            for choice in self.fabric.combinations(menus, confined):
                yield block, *(numbers[place] for numbers, place in zip(options, choice, strict=True))

    def _plans(self, degrees: Degrees, dimension: Dimension, block: int) -> Sequence[GroupPlan]:
        """A dimension that sends nothing needs no plan."""
        if not self.workload.sends(dimension):
            return self.fabric.plans(dimension, 1, one_server=True)
        found = plans_of(self.fabric, degrees, dimension, block)
        if self.collective is None or dimension not in REDUCING:
            return found
        return [plan for plan in found if plan.kind in ("none", self.collective)]


def plans_of(fabric: FabricBase, degrees: Degrees, dimension: Dimension, block: int) -> Sequence[GroupPlan]:
    """Plans of the groups along a dimension, laid out in such blocks."""
    ranks, together = degrees.ranks(dimension), degrees.ranks_together(dimension, block)
    return fabric.plans(dimension, ranks, one_server=together == ranks, per_server=together)


def candidates_of(
    configurations: Sequence[Configuration], workload: Workload, device: Device, fabric: FabricBase
) -> Candidates:
    """Rows for given configurations, such as those that residents and plans name.

    Raises ValueError where the workload or the fabric has no such configuration.
    """
    menus = workload.menus()
    choices = [configuration.choice(menus) for configuration in configurations]
    mappings = Mappings.of(**{name: np.array([c[name] for c in choices], np.int64) for name in CHOICES})
    device.matrix_flops_per_s(workload.precision)
    splits, plans = tuple(fabric.splits(device, workload)), dict[GroupPlan, int]()
    split = np.array([_split_of(configuration, splits) for configuration in configurations], dtype=np.int32)
    plan = np.zeros((len(DIMENSIONS), len(configurations)), dtype=np.int32)
    for row, configuration in enumerate(configurations):
        _require_mapping(configuration, choices[row], workload)
        for axis, dimension in enumerate(DIMENSIONS):
            found = _plan_of(configuration, dimension, workload.sends(dimension), splits[split[row]].fabric)
            plan[axis, row] = plans.setdefault(found, len(plans))
        if not fabric.combines([list(plans)[number] for number in plan[:, row]]):
            raise ValueError("its collectives cannot run together on this fabric")
    block = np.array([c.block for c in configurations], dtype=np.int32)
    mapping = np.arange(len(configurations), dtype=np.int32)
    return Candidates(workload, mappings, mapping, block, plan, tuple(plans), split, splits)


def _split_of(configuration: Configuration, splits: Sequence[Split]) -> int:
    wanted = configuration.memory_units, configuration.memory_io
    for number, split in enumerate(splits):
        if (split.memory_units, split.memory_io) == wanted:
            return number
    raise ValueError(f"memory_units, memory_io: {wanted[0]} and {wanted[1]} are no split that this fabric has")


def _require_mapping(configuration: Configuration, choice: dict[str, int], workload: Workload) -> None:
    if not workload.mappings(configuration.num_devices).where(choice).any():
        raise ValueError(f"{configuration.degrees} does not divide the workload")


def _plan_of(configuration: Configuration, dimension: Dimension, is_sent: bool, fabric: FabricBase) -> GroupPlan:
    collective: Collective = getattr(configuration, f"{dimension}_collective")
    if is_sent:
        options = plans_of(fabric, configuration.all_degrees, dimension, configuration.block)
    else:
        options = fabric.plans(dimension, 1, one_server=True)
    ranks = configuration.all_degrees.ranks(dimension) if is_sent else 1
    listed = (plan for plan in options if Collective.of(plan) == collective)
    if plan := next(listed, None) or fabric.plan_kept(dimension, collective.described(ranks)):
        return plan
    names = ", ".join(plan.name for plan in options[:8])
    raise ValueError(f"{dimension}_collective is none that {ranks} ranks have on this fabric; some are: {names}")
