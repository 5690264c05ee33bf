"""Splits of the I/O whose devices are alike but for their memory: priced together, as rows of one table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from costmodel.fabrics import Split
from costmodel.hardware.device import Device, Precision, device_names
from costmodel.hardware.memory.columns import MemoryColumns
from costmodel.kernels.collective import collective_curve
from costmodel.kernels.gemm import gemm_curve
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.candidates import Candidates, Ints
from costmodel.pricing.efficiency import Efficiency, efficiency_of
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.power import node_w
from costmodel.workloads import Dlrm, TransformerInference, TransformerTraining, Workload

OF_MEMORY = {
    "name", "capacity_bytes", "memory_bytes_per_s", "memory_j_per_byte", "power_limit_w", "launch_s", "first_byte_s",
    "source", "sources", "aliases",
}  # fmt: skip
"""fields of a device that its memory decides"""
WIDE: Precision = "bf16"
"""of products of training that are not in the precision of its workload"""
Joined = TransformerInference | TransformerTraining | Dlrm


class SplitGroup(NamedTuple):
    """Splits that are priced together."""

    splits: tuple[int, ...]
    """by number"""
    is_table: bool
    """whether rows have memories of their own, several ones or behind a cache, beside one device"""


def groups_of(candidates: Candidates, calibrations: Calibrations | None = None) -> list[SplitGroup]:
    """The splits of candidates, each in one group.

    Those of engines, recommenders, and training of transformers that nothing evaluates meanwhile, are priced together
    where no fitted curve follows the memory.
    """
    workload, splits = candidates.workload, candidates.splits
    may_join = _is_joined(workload)
    alike: dict[tuple[Any, ...], list[int]] = {}
    for number, split in enumerate(splits):
        reached = _reached_by(split, workload, calibrations) if may_join and (len(splits) > 1 or split.cached) else None
        key = (number,) if reached is None else (*_key(split), *reached)
        alike.setdefault(key, []).append(number)
    found = ((len(key) > 1, tuple(each)) for key, each in alike.items())
    return [SplitGroup(each, may and (len(each) > 1 or splits[each[0]].cached is not None)) for may, each in found]


def _is_joined(workload: Workload) -> bool:
    if isinstance(workload, TransformerInference):
        return workload.kernel_rules is None
    return isinstance(workload, Dlrm) or (isinstance(workload, TransformerTraining) and workload.evaluation is None)


def _reached_by(split: Split, workload: Workload, calibrations: Calibrations | None) -> tuple[str, ...] | None:
    """What is reached on the device of a split, also where a cache has none or all of what is read; None where these
    differ."""
    devices = [split.device] if split.cached is None else [split.cached.at(0.0), split.cached.at(1.0)]
    found = {tuple(_reached(workload, device, calibrations)) for device in devices}
    return found.pop() if len(found) == 1 else None


def _reached(workload: Workload, device: Device, calibrations: Calibrations | None) -> Iterator[str]:
    """What a workload reaches of the peaks of a device, which may follow its memory where nothing was fitted; kernels
    of engines have the curves of their device."""
    if isinstance(workload, TransformerInference):
        yield collective_curve(device, calibrations)[0].model_dump_json()
    elif isinstance(workload, TransformerTraining | Dlrm):
        reached = _efficiency(workload, device, calibrations)
        yield reached.model_dump_json(exclude={"launch_s"})
        yield "" if _has_own_launch(reached, device) else str(reached.launch_s)
        for precision in (workload.precision, WIDE):
            yield gemm_curve(device, precision, calibrations)[0].model_dump_json()


def _has_own_launch(reached: Efficiency, device: Device) -> bool:
    """Whether operators launch as the device says, whose memory they may have to wait for, and not as was fitted."""
    return reached.launch_s == device.launch_s


def _efficiency(workload: TransformerTraining | Dlrm, device: Device, calibrations: Calibrations | None) -> Efficiency:
    if isinstance(workload, Dlrm):
        return efficiency_of(device, workload.mode, workload.precision, calibrations)[0]
    return efficiency_of(device, "training", workload.precision, calibrations, workload.framework)[0]


def _key(split: Split) -> tuple[Any, ...]:
    """What splits have in common that are priced together."""
    device, fabric = split.device, split.fabric
    energies = (fabric.network_j_per_byte(one_server) for one_server in (True, False))
    around = fabric.node_bytes_per_s, fabric.turns, fabric.switching_inside, node_w(device, fabric), *energies
    text = device.model_dump_json(exclude=OF_MEMORY)
    return text, device.name if device.name in device_names() else "", type(fabric), *around


def part_of(
    candidates: Candidates, rows: Ints | slice, splits: Sequence[Split], calibrations: Calibrations | None
) -> tuple[Candidates, OpGraph, MemoryColumns]:
    """Some rows of splits that are priced together, with their own mappings alone, what these execute, and the memory
    of each row."""
    part = candidates.take(rows)
    devices, of = [split.device for split in splits], part.split
    if any(split.cached is not None for split in splits):
        _, graph, own = _on(part, devices, of, calibrations)
        devices, of = _behind_caches(part, splits, graph.footprint_bytes[own])
    first, graph, own = _on(part, devices, of, calibrations)
    mappings = candidates.mappings.take(part.mapping[first])
    mine = replace(part, mappings=mappings, mapping=own.astype(np.intp), plan=part.plan.astype(np.intp))
    return mine, graph, MemoryColumns.of_each(devices).take(of)


def _on(
    part: Candidates, devices: Sequence[Device], of: Ints, calibrations: Calibrations | None
) -> tuple[Ints, OpGraph, Ints]:
    """First row of each mapping on each device, what these execute, and which of them each row is like; `of`: the
    device of each row, (C,)."""
    workload, memories = part.workload, MemoryColumns.of_each(devices)
    assert isinstance(workload, Joined)
    _, first, own = np.unique(part.mapping.astype(np.int64) * len(devices) + of, return_index=True, return_inverse=True)
    device = devices[int(of[0])]
    graph = workload.op_graph(part.mappings.take(part.mapping[first]), device, calibrations, (memories, of[first]))
    if isinstance(workload, TransformerTraining | Dlrm) and _has_own_launch(
        _efficiency(workload, device, calibrations), device
    ):
        graph = replace(graph, launch_s=np.asarray(memories.take(of[first]).launch_s))
    return first, graph, own


def _behind_caches(part: Candidates, splits: Sequence[Split], kept_bytes: Floats) -> tuple[list[Device], Ints]:
    """Devices whose memory is as fast as the share of their reads that a cache has, and which of them each row has."""
    devices, of = list[Device](), np.empty(len(part), np.int64)
    for number in np.unique(part.split).tolist():
        rows, split = np.flatnonzero(part.split == number), splits[number]
        hits = np.ones(len(rows))
        if split.cached is not None:
            hits = split.cached.hits(kept_bytes[rows], at_random=part.workload.reads_at_random)
        for hit in np.unique(hits).tolist():
            of[rows[hits == hit]] = len(devices)
            devices.append(split.device if split.cached is None else split.cached.at(hit))
    return devices, of
