"""Embedding pooling of recommendation models: an appliance against accelerators that exchange pooled rows.

Both are priced as candidates of a job whose dense networks are the smallest that there are. The accelerators have the
rows of all tables divided among them and add their shares by a reduce-scatter; the appliance holds all tables in one
address space.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from costmodel.fabrics import FabricBase, fat_tree_of
from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision, load_device
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.hardware.systems import System, system_of
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.spec import Bytes, BytesPerSecond, Seconds, Spec
from costmodel.workloads import Dlrm
from planner.studies.reproduce.experiments.static_batches import PRODUCT

Floats = NDArray[np.float64]
Grid = list[tuple[int, int, int]]
EVALUATED, AT_THE_PORTS = "evaluated", "at the ports"


class Exchange(Spec):
    """The network of all accelerators."""

    step_s: Seconds
    """latency of a message between two of them"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of one accelerator in one direction"""


class Inputs(Spec):
    """The grid of lookups, the accelerators, their networks and the appliance."""

    tables: tuple[int, ...]
    batch: tuple[int, ...]
    pooling: tuple[int, ...]
    dimension: int = Field(ge=1)
    precision: Precision
    """of rows"""
    table_bytes: Bytes
    """all embedding tables together"""
    device: str
    """catalog name of the accelerator"""
    efficiency: float = Field(gt=0, le=1)
    """share of the memory's peak that gathering short rows reaches"""
    networks: dict[str, Exchange]
    appliance: str
    """catalog name of the memory that holds all tables"""


def grid(inputs: Inputs) -> Grid:
    """All combinations of tables, batch and pooling, tables slowest."""
    return [(t, b, p) for t in inputs.tables for b in inputs.batch for p in inputs.pooling]


def devices_of(inputs: Inputs) -> int:
    """Fewest accelerators whose memory holds all tables, as a power of two."""
    needed = np.ceil(inputs.table_bytes / load_device(inputs.device).capacity_bytes)
    return int(2 ** np.ceil(np.log2(needed)))


def speedups(inputs: Inputs, *, reading: str = EVALUATED, launch: bool = True, steps: bool = True) -> dict[str, Floats]:
    """Time over each network by the time of the appliance, of shape (N,) of the grid.

    `reading`: bandwidth of the appliance as its maker evaluates it, or what its ports carry; `launch` and `steps`:
    whether the latencies of kernels and of messages count.
    """
    own, system = _launched(load_device(inputs.device), launch), system_of(inputs.device)
    appliance_s = _times_s(inputs, _on_appliance(inputs, own, reading), _in_one_domain(system, 1))
    return {
        name: _times_s(inputs, own, _of_network(inputs, system, each, steps)) / appliance_s
        for name, each in inputs.networks.items()
    }


def usual_speedups(inputs: Inputs, reading: str) -> Floats:
    """The same over the device's servers as the catalog has them, on the network between these."""
    own, system = load_device(inputs.device), system_of(inputs.device)
    usual_s = _times_s(inputs, own, fat_tree_of(system, devices_of(inputs)))
    return usual_s / _times_s(inputs, _on_appliance(inputs, own, reading), _in_one_domain(system, 1))


def _of_network(inputs: Inputs, system: System, network: Exchange, steps: bool) -> FabricBase:
    """All accelerators in one domain of it."""
    return _in_one_domain(
        system, devices_of(inputs), nvlink_alpha_s=network.step_s if steps else 0.0,
        nvlink_bandwidth_bytes_per_s=network.bandwidth_bytes_per_s,
    )  # fmt: skip


def _in_one_domain(system: System, accelerators: int, **links: float) -> FabricBase:
    return fat_tree_of(system.model_copy(update={"gpus_per_server": accelerators} | links), accelerators)


def _launched(device: Device, launch: bool) -> Device:
    return device if launch else device.model_copy(update={"launch_s": 0.0})


def _on_appliance(inputs: Inputs, own: Device, reading: str) -> Device:
    """An accelerator whose memory is the appliance."""
    appliance = load_memory_appliance(inputs.appliance)
    tier = appliance.tier(appliance.evaluated_bytes_per_s if reading == EVALUATED else None)
    memory: dict[str, Any] = {
        "name": f"{own.name} on {appliance.name}", "like": own.name, "aliases": (),
        "memory_bytes_per_s": tier.bandwidth_bytes_per_s, "capacity_bytes": tier.capacity_bytes,
    }  # fmt: skip
    return own.model_copy(update=memory)


def _times_s(inputs: Inputs, device: Device, fabric: FabricBase) -> Floats:
    """Least time of a batch with all tables divided over the accelerators of a fabric, of shape (N,)."""
    return np.array([_time_s(_job(inputs, *each), device, fabric) for each in grid(inputs)])


def _time_s(job: Dlrm, device: Device, fabric: FabricBase) -> float:
    one = Mappings.of(tensor=fabric.num_devices, micro_batch=job.batch)
    rows = list_candidates(job, one, device, fabric, blocks=widest_block)
    return float(score(rows, device, fabric).step_s.min())


def _job(inputs: Inputs, tables: int, batch: int, pooling: int) -> Dlrm:
    row_bytes = inputs.dimension * BYTES_OF_PRECISION[inputs.precision]
    rows = {"rows": int(inputs.table_bytes / row_bytes / tables), "pooling": pooling, "count": tables}
    model = {
        "tables": [rows], "dimension": inputs.dimension, "gather_efficiency": inputs.efficiency,
        "dense_features": 1, "bottom": [inputs.dimension], "top": [1],
    }  # fmt: skip
    fields = {"mode": "inference", "batch": batch, "table_precision": inputs.precision, "model": model}
    return Dlrm.model_validate(fields)


def compute(inputs: Inputs) -> dict[str, float]:
    """Means over the grid, with and without the latencies; on the catalog's servers; and the number of accelerators."""
    readings = {
        "": speedups(inputs),
        ", at the ports": speedups(inputs, reading=AT_THE_PORTS),
        ", no exchange steps": speedups(inputs, steps=False),
        ", no latency": speedups(inputs, steps=False, launch=False),
    }
    found = {
        f"mean speedup over {name}{suffix}": float(values.mean())
        for suffix, by_network in readings.items()
        for name, values in by_network.items()
    }
    for reading, suffix in ((EVALUATED, ""), (AT_THE_PORTS, ", at the ports")):
        found[f"mean speedup over servers{suffix}{PRODUCT}"] = float(usual_speedups(inputs, reading).mean())
    return found | {"devices": float(devices_of(inputs))}
