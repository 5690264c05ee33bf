"""Splits of the I/O whose devices are alike but for their memory: priced together, as rows of one table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from costmodel.fabrics import Split
from costmodel.hardware.device import Device, Precision, device_names
from costmodel.hardware.memory.columns import MemoryColumns
from costmodel.kernels.gemm import gemm_curve
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.candidates import Candidates, Ints
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.power import node_w
from costmodel.workloads import TransformerInference, TransformerTraining, Workload

OF_MEMORY = {
    "name", "capacity_bytes", "memory_bytes_per_s", "memory_j_per_byte", "power_limit_w", "launch_s", "first_byte_s",
    "source", "sources", "aliases",
}  # fmt: skip
"""fields of a device that its memory decides; engines and training have launches of their own"""
WIDE: Precision = "bf16"
"""of products of training that are not in the precision of its workload"""


def groups_of(candidates: Candidates, calibrations: Calibrations | None = None) -> list[tuple[int, ...]]:
    """Numbers of the splits that are priced together, each in one group.

    Engines, and training of transformers that nothing evaluates meanwhile, are priced so, where no message passes a
    link whose curve is fitted, since such curves may follow the memory.
    """
    workload, splits = candidates.workload, candidates.splits
    if not _is_joined(workload) or len(splits) == 1 or any(plan.node_bytes_per_s for plan in candidates.plans):
        return [(number,) for number in range(len(splits))]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, split in enumerate(splits):
        is_single = split.cached is not None or split.device.offload is not None
        key = (number,) if is_single else (*_key(split), *_reached(workload, split.device, calibrations))
        groups.setdefault(key, []).append(number)
    return list(map(tuple, groups.values()))


def _is_joined(workload: Workload) -> bool:
    if isinstance(workload, TransformerInference):
        return workload.kernel_rules is None
    return isinstance(workload, TransformerTraining) and workload.evaluation is None


def _reached(workload: Workload, device: Device, calibrations: Calibrations | None) -> Iterator[str]:
    """What training reaches of the peaks of a device, which may follow its memory where nothing was fitted; engines
    have the curves of their device."""
    if isinstance(workload, TransformerTraining):
        reached, _ = efficiency_of(device, "training", workload.precision, calibrations, workload.framework)
        yield reached.model_dump_json()
        for precision in (workload.precision, WIDE):
            yield gemm_curve(device, precision, calibrations)[0].model_dump_json()


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
    assert isinstance(candidates.workload, TransformerInference | TransformerTraining)
    part = candidates.take(rows)
    memories = MemoryColumns.of_each([split.device for split in splits])
    _, first, of = np.unique(
        part.mapping.astype(np.int64) * len(splits) + part.split, return_index=True, return_inverse=True
    )
    mappings = candidates.mappings.take(part.mapping[first])
    device = splits[int(part.split[0])].device
    graph = candidates.workload.op_graph(mappings, device, calibrations, (memories, part.split[first]))
    own = replace(part, mappings=mappings, mapping=of.astype(np.intp), plan=part.plan.astype(np.intp))
    return own, graph, memories.take(part.split)
