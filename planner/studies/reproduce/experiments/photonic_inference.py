"""Serving from a shared photonic memory against servers of accelerators; figures 9 and 10 of the paper.

The accelerators on the appliance compute as one on one memory, so that no tensor group communicates; the
baseline divides each matrix over a server. With several pipeline stages there are as many servers, and as
many appliances.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from costmodel.hardware.device import Precision, load_device
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.serving.static import Engine, KernelRules, Served, largest_batch, serve
from costmodel.spec import Bytes, BytesPerSecond, Spec
from costmodel.workloads.transformer.shapes import Model, shape_of

Floats = NDArray[np.float64]
READINGS = ("evaluated", "ports")
"""bandwidth of the appliance as its evaluation has it, and as its ports carry it"""


class Inputs(Spec):
    """Two systems and the requests that both serve."""

    model: Model
    device: str
    capacity_bytes: Bytes | None = None
    """memory of the device as the paper has it; absent: the catalog's"""
    precision: Precision
    """of the products"""
    tensor: int = Field(ge=1)
    """accelerators of a server, all in one tensor group"""
    pipeline: int = Field(default=1, ge=1)
    """servers, or appliances"""
    link_bytes_per_s: BytesPerSecond
    """egress of an accelerator to its server, one direction"""
    stage_link_bytes_per_s: BytesPerSecond | None = None
    """egress of an accelerator to the next stage"""
    appliance: str
    compute_shares: tuple[float, ...] = (1.0,)
    """compute on the appliance over that of the baseline; 1 is the last"""
    batch_limit: int = Field(ge=1)
    """most sequences at once on either system"""
    requests: tuple[tuple[int, int], ...] = Field(min_length=1)
    """tokens in and out"""
    long_output: int = Field(ge=1)
    """output tokens from which an output counts as long"""
    rules: KernelRules

    @field_validator("compute_shares")
    @classmethod
    def _end_with_all(cls, shares: tuple[float, ...]) -> tuple[float, ...]:
        if not shares or list(shares) != sorted(set(shares)) or shares[-1] != 1.0 or shares[0] <= 0:
            raise ValueError(f"compute_shares: {shares} must grow from above 0 to 1")
        return shares


def compute(inputs: Inputs) -> dict[str, float]:
    """Gains in throughput (largest batches) and latency (batch 1), by request, compute and reading; extremes."""
    found: dict[str, float] = {}
    for reading in READINGS:
        gains = {share: _gains(inputs, share, reading) for share in inputs.compute_shares}
        ending = "" if reading == "evaluated" else f", at the {reading}"
        for (share, pair), (row, (tokens_in, tokens_out)) in product(gains.items(), enumerate(inputs.requests)):
            name = f"gain {tokens_in} in {tokens_out} out, {share:g} of the compute{ending}"
            found[f"throughput {name}"], found[f"latency {name}"] = float(pair[0][row]), float(pair[1][row])
        found |= {f"{name}{ending}": value for name, value in _extremes(inputs, gains).items()}
    return found


def _extremes(inputs: Inputs, gains: dict[float, tuple[Floats, Floats]]) -> dict[str, float]:
    """Largest gains at full compute, where they are, and how long outputs compare with short ones."""
    throughput, latency = gains[1.0]
    best = int(throughput.argmax())
    found = {
        "throughput gain": float(throughput[best]),
        "latency gain": float(latency.max()),
        "tokens in of the largest gain": float(inputs.requests[best][0]),
        "tokens out of the largest gain": float(inputs.requests[best][1]),
    }
    is_long = np.array([output >= inputs.long_output for _, output in inputs.requests])
    if is_long.any() and not is_long.all():
        found["least gain of long outputs over most of short ones"] = float(
            throughput[is_long].min() / throughput[~is_long].max()
        )
        for share, (each, _) in gains.items():
            found[f"least throughput gain of long outputs, {share:g} of the compute"] = float(each[is_long].min())
    return found


def gains_by_compute(inputs: Inputs) -> tuple[Floats, Floats]:
    """Gains in throughput and latency as the evaluation has them, each of shape (shares, requests)."""
    pairs = [_gains(inputs, share, "evaluated") for share in inputs.compute_shares]
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


def baseline(inputs: Inputs) -> Engine:
    """Servers of accelerators, each with its own memory."""
    device = load_device(inputs.device)
    return Engine(
        flops_per_s=device.matrix_flops_per_s(inputs.precision), memory_bytes_per_s=device.memory_bytes_per_s,
        capacity_bytes=inputs.capacity_bytes or device.capacity_bytes, tensor=inputs.tensor, pipeline=inputs.pipeline,
        link_bytes_per_s=inputs.link_bytes_per_s, stage_link_bytes_per_s=inputs.stage_link_bytes_per_s,
        max_batch=inputs.batch_limit,
    )  # fmt: skip


def on_appliance(inputs: Inputs, share: float, reading: str) -> Engine:
    """So much of the baseline's compute on the appliance's memory."""
    device, appliance = load_device(inputs.device), load_memory_appliance(inputs.appliance)
    tier = appliance.tier(appliance.evaluated_bytes_per_s if reading == "evaluated" else None)
    return Engine(
        flops_per_s=share * inputs.tensor * device.matrix_flops_per_s(inputs.precision),
        memory_bytes_per_s=tier.bandwidth_bytes_per_s, capacity_bytes=tier.capacity_bytes, pipeline=inputs.pipeline,
        stage_link_bytes_per_s=inputs.stage_link_bytes_per_s, max_batch=inputs.batch_limit,
    )  # fmt: skip


def at_largest_batch(inputs: Inputs, engine: Engine) -> Served:
    """Each request in the largest batch that fits; ValueError where not even one sequence does."""
    shape = shape_of(inputs.model)
    tokens_in, tokens_out = np.array(inputs.requests).T
    batch = largest_batch(shape, engine, inputs.rules, tokens_in, tokens_out)
    if batch.min() < 1:
        raise ValueError("model: no sequence fits beside the weights; give more stages, or fewer tokens")
    return serve(shape, engine, inputs.rules, batch, tokens_in, tokens_out)


def _gains(inputs: Inputs, share: float, reading: str) -> tuple[Floats, Floats]:
    """Throughput and latency of the appliance over the baseline, each of shape (requests,)."""
    shape = shape_of(inputs.model)
    tokens_in, tokens_out = np.array(inputs.requests).T
    ours, theirs = on_appliance(inputs, share, reading), baseline(inputs)
    throughput = [at_largest_batch(inputs, engine).output_tokens_per_s for engine in (ours, theirs)]
    latency = [serve(shape, engine, inputs.rules, 1, tokens_in, tokens_out).latency_s for engine in (ours, theirs)]
    return throughput[0] / throughput[1], latency[1] / latency[0]
