"""Candidates: every way in which a job may run, one row each, with all that its score depends on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.configuration import Collective, Configuration
from costmodel.fabrics import FabricBase, GroupPlan
from costmodel.hardware import Device
from costmodel.opgraph import Mappings, OpGraph
from costmodel.workloads import Workload

Ints = NDArray[np.int64]
DIMENSIONS = ("tensor", "pipeline", "data")


@dataclass(frozen=True)
class Candidates:
    """Configurations of one workload, columns of shape (C,); `mapping` indexes the rows of `mappings`.

    `plan` has shape (3, C): the row of `plans` used along tensor, pipeline and data.
    """

    mappings: Mappings
    graph: OpGraph
    mapping: Ints
    block: Ints
    plan: Ints
    plans: tuple[GroupPlan, ...]

    def __len__(self) -> int:
        return len(self.mapping)

    @property
    def num_devices(self) -> Ints:
        return np.asarray(self.mappings.num_devices[self.mapping])

    def configuration(self, row: int) -> Configuration:
        """The row as it is written in a plan."""
        m = self.mapping[row]
        collectives = [Collective.of(self.plans[self.plan[axis, row]]) for axis in range(3)]
        return Configuration(
            tensor=int(self.mappings.tensor[m]),
            pipeline=int(self.mappings.pipeline[m]),
            data=int(self.mappings.data[m]),
            micro_batch=int(self.mappings.micro_batch[m]),
            block=int(self.block[row]),
            tensor_collective=collectives[0],
            pipeline_collective=collectives[1],
            data_collective=collectives[2],
        )

    def take(self, rows: Ints) -> "Candidates":
        """The given rows, in this order."""
        return Candidates(
            self.mappings, self.graph, self.mapping[rows], self.block[rows], self.plan[:, rows], self.plans
        )


def _uses(graph: OpGraph, num_mappings: int) -> NDArray[np.bool_]:
    """Which dimensions send messages under each mapping, shape (3, M)."""
    used = np.zeros((3, num_mappings), dtype=bool)
    for row, dimension in enumerate(graph.dimensions):
        used[DIMENSIONS.index(dimension)] |= graph.message_count[row] > 0
    return used


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
    mappings = mappings.take(workload.op_graph(mappings, device).footprint_bytes <= device.capacity_bytes)
    graph = workload.op_graph(mappings, device)
    used = _uses(graph, len(mappings.tensor))
    plans: dict[GroupPlan, int] = {}
    rows: list[tuple[int, int, int, int, int]] = []
    for m in range(len(mappings.tensor)):
        degrees = [int(getattr(mappings, name)[m]) for name in DIMENSIONS]
        needed = [degree if used[axis, m] else 1 for axis, degree in enumerate(degrees)]
        for block in _blocks(fabric, degrees, one_server):
            for choice in _choices(fabric, degrees, needed, block, collective):
                tensor, pipeline, data = (plans.setdefault(plan, len(plans)) for plan in choice)
                rows.append((m, block, tensor, pipeline, data))
    table = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Candidates(mappings, graph, table[0], table[1], table[2:], tuple(plans))


def _blocks(fabric: FabricBase, degrees: Sequence[int], one_server: bool) -> Sequence[int]:
    num_devices = int(np.prod(degrees))
    if one_server:
        return (num_devices,) if num_devices <= fabric.devices_per_server else ()
    return fabric.blocks(degrees[0], num_devices)


def _choices(
    fabric: FabricBase, degrees: Sequence[int], needed: Sequence[int], block: int, collective: str | None
) -> Iterator[tuple[GroupPlan, GroupPlan, GroupPlan]]:
    """Combinations of plans along tensor, pipeline and data; `needed` is 1 where nothing is sent."""
    options = []
    for axis, dimension in enumerate(DIMENSIONS):
        confined = block % degrees[0] == 0 if axis == 0 else block == int(np.prod(degrees))
        found = fabric.plans(dimension, needed[axis], one_server=confined)
        if collective is not None and dimension != "pipeline":
            found = [plan for plan in found if plan.kind in ("none", collective)]
        options.append(found)
    for tensor in options[0]:
        for pipeline in options[1]:
            for data in options[2]:
                yield tensor, pipeline, data


def candidates_of(
    configurations: Sequence[Configuration], workload: Workload, device: Device, fabric: FabricBase
) -> Candidates:
    """Rows for given configurations, such as those that residents and plans name.

    Raises ValueError where the workload or the fabric has no such configuration.
    """
    columns = [
        [getattr(c, name) for c in configurations]
        for name in ("num_devices", "tensor", "pipeline", "data", "micro_batch")
    ]
    mappings = Mappings(*(np.array(column, dtype=np.int64) for column in columns))
    graph = workload.op_graph(mappings, device)
    used = _uses(graph, len(configurations))
    plans: dict[GroupPlan, int] = {}
    plan = np.zeros((3, len(configurations)), dtype=np.int64)
    for row, configuration in enumerate(configurations):
        _require_mapping(configuration, workload)
        for axis, dimension in enumerate(DIMENSIONS):
            ranks = getattr(configuration, dimension) if used[axis, row] else 1
            found = _plan_of(configuration, dimension, ranks, fabric)
            plan[axis, row] = plans.setdefault(found, len(plans))
    block = np.array([c.block for c in configurations], dtype=np.int64)
    return Candidates(mappings, graph, np.arange(len(configurations)), block, plan, tuple(plans))


def _require_mapping(configuration: Configuration, workload: Workload) -> None:
    listed = workload.mappings(configuration.num_devices)
    same = np.ones(len(listed.tensor), dtype=bool)
    for name in (*DIMENSIONS, "micro_batch"):
        same &= getattr(listed, name) == getattr(configuration, name)
    if not same.any():
        raise ValueError(
            f"tensor {configuration.tensor} x pipeline {configuration.pipeline} x data {configuration.data} "
            f"with micro_batch {configuration.micro_batch} does not divide the workload"
        )


def _plan_of(configuration: Configuration, dimension: str, ranks: int, fabric: FabricBase) -> GroupPlan:
    collective: Collective = getattr(configuration, f"{dimension}_collective")
    tensor_confined = configuration.block % configuration.tensor == 0
    all_confined = configuration.block == configuration.num_devices
    confined = tensor_confined if dimension == "tensor" else all_confined
    options = fabric.plans(dimension, ranks, one_server=confined)
    for plan in options:
        if Collective.of(plan) == collective:
            return plan
    names = ", ".join(plan.name for plan in options[:8])
    raise ValueError(f"{dimension}_collective is none that {ranks} ranks have on this fabric; some are: {names}")
