"""Embedding pooling of recommendation models: an appliance against accelerators that exchange pooled rows."""

import numpy as np
from pydantic import Field

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision, load_device
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.published.dlrm_pooling import Exchange, Floats, GatherMemory, Lookups, devices_for, pooling_s
from costmodel.spec import Bytes, Seconds, Spec

EVALUATED, AT_THE_PORTS = "evaluated", "at the ports"


class Inputs(Spec):
    """The grid of lookups, the accelerators, their networks and the appliance."""

    tables: tuple[int, ...]
    batch: tuple[int, ...]
    pooling: tuple[int, ...]
    dimension: int = Field(ge=1)
    precision: Precision
    table_bytes: Bytes
    """all embedding tables together"""
    device: str
    """catalog name of the accelerator"""
    efficiency: float = Field(gt=0, le=1)
    """share of the memory's peak that gathering short rows reaches"""
    launch_s: Seconds
    networks: dict[str, Exchange]
    appliance: str
    """catalog name of the memory that holds all tables"""
    appliance_index_bytes: Bytes
    """read by the appliance for each row"""


def grid(inputs: Inputs) -> Lookups:
    """All combinations of tables, batch and pooling, tables slowest."""
    mesh = np.meshgrid(inputs.tables, inputs.batch, inputs.pooling, indexing="ij")
    tables, batch, pooling = (each.ravel().astype(np.float64) for each in mesh)
    row_bytes = inputs.dimension * BYTES_OF_PRECISION[inputs.precision]
    return Lookups(tables=tables, batch=batch, pooling=pooling, row_bytes=row_bytes)


def bandwidths(inputs: Inputs) -> dict[str, float]:
    """Of the appliance in bytes/s: as its maker evaluates it, and what its ports carry."""
    part = load_memory_appliance(inputs.appliance)
    return {
        EVALUATED: part.evaluated_bytes_per_s or part.switching_bytes_per_s,
        AT_THE_PORTS: part.switching_bytes_per_s,
    }


def speedups(inputs: Inputs, *, reading: str = EVALUATED, launch: bool = True, steps: bool = True) -> dict[str, Floats]:
    """Time over each network by the time of the appliance, of shape (N,) of the grid.

    `reading`: key of `bandwidths`; `launch` and `steps`: whether the latency of a lookup and of the steps of an
    exchange count.
    """
    device = load_device(inputs.device)
    launch_s = inputs.launch_s if launch else 0.0
    local = GatherMemory(memory_bytes_per_s=device.memory_bytes_per_s, efficiency=inputs.efficiency, launch_s=launch_s)
    appliance = GatherMemory(
        memory_bytes_per_s=bandwidths(inputs)[reading],
        efficiency=inputs.efficiency,
        launch_s=launch_s,
        index_bytes=inputs.appliance_index_bytes,
    )
    lookups, devices = grid(inputs), devices_for(inputs.table_bytes, device.capacity_bytes)
    appliance_s = pooling_s(lookups, appliance)
    return {
        name: pooling_s(lookups, local, _with_steps(network, steps), devices) / appliance_s
        for name, network in inputs.networks.items()
    }


def _with_steps(network: Exchange, steps: bool) -> Exchange:
    return network if steps else network.model_copy(update={"step_s": 0.0})


def compute(inputs: Inputs) -> dict[str, float]:
    """Means over the grid, with and without the latencies, and the number of accelerators."""
    readings = {
        "": speedups(inputs),
        ", at the ports": speedups(inputs, reading=AT_THE_PORTS),
        ", no exchange steps": speedups(inputs, steps=False),
        ", no latency": speedups(inputs, steps=False, launch=False),
    }
    result = {
        f"mean speedup over {name}{suffix}": float(values.mean())
        for suffix, by_network in readings.items()
        for name, values in by_network.items()
    }
    device = load_device(inputs.device)
    return result | {"devices": float(devices_for(inputs.table_bytes, device.capacity_bytes))}
