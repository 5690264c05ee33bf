"""Serving from a shared photonic memory against servers of accelerators; figures 9 and 10 of the paper.

The accelerators on the appliance compute as one on one memory, so that no tensor group communicates; the
baseline divides each matrix over a server. With several pipeline stages there are as many servers, and as
many appliances. Both are priced as candidates of a job, by the paper's rules and by fitted kernels.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from pydantic import Field, TypeAdapter, field_validator

from costmodel.fabrics import Fabric
from costmodel.hardware.device import Device, Precision, load_device
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Floats
from costmodel.serving.kernel_rules import KernelRules
from costmodel.spec import Bytes, BytesPerSecond, Spec
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.shapes import Model
from planner.studies.reproduce.experiments.static_batches import (
    PRODUCT,
    ServedBatches,
    ServingSystem,
    job_of,
    serve,
    servers,
)

READINGS = ("evaluated", "ports")
"""bandwidth of the appliance as its evaluation has it, and as its ports carry it"""
KEPT = f", at the ports, hits by what is kept{PRODUCT}"
"""where what exceeds the appliance's HBM is read from its DDR"""


class Inputs(Spec):
    """Two systems and the requests that both serve."""

    model: Model
    device: str
    capacity_bytes: Bytes | None = None
    """memory of the device as the paper has it; absent: the catalog's"""
    precision: Precision
    """of weights and products"""
    kv_precision: Precision = "fp16"
    activation_precision: Precision = "fp16"
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
    """Gains in throughput (largest batches) and latency (batch 1), by request, compute and reading; extremes. All by
    the paper's rules, and again by the product's model."""
    return _compute(inputs, inputs.rules, "") | _compute(inputs, None, PRODUCT) | _by_what_is_kept(inputs)


def _compute(inputs: Inputs, rules: KernelRules | None, label: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for reading in READINGS:
        pairs = zip(inputs.compute_shares, zip(*gains_by_compute(inputs, rules, reading), strict=True), strict=True)
        gains = dict(pairs)
        ending = label if reading == "evaluated" else f", at the {reading}{label}"
        for (share, pair), (row, (tokens_in, tokens_out)) in product(gains.items(), enumerate(inputs.requests)):
            name = f"gain {tokens_in} in {tokens_out} out, {share:g} of the compute{ending}"
            found[f"throughput {name}"], found[f"latency {name}"] = float(pair[0][row]), float(pair[1][row])
        found |= {f"{name}{ending}": value for name, value in _extremes(inputs, gains).items()}
    return found


def _by_what_is_kept(inputs: Inputs) -> dict[str, float]:
    """The largest gains on the appliance as a fabric has it: behind its ports, at the rate of hits that follows from
    what a batch keeps. Each system runs the batch that suits it best."""
    users = [2**k for k in range(inputs.batch_limit.bit_length())]
    systems = behind_ports(inputs), baseline(inputs, None)
    throughput, latency = [], []
    for request in inputs.requests:
        ours, theirs = (serve_users(inputs, None, each, request, users) for each in systems)
        throughput.append(float(ours.output_tokens_per_s.max() / theirs.output_tokens_per_s.max()))
        latency.append(float(theirs.latency_s[0] / ours.latency_s[0]))
    return {f"throughput gain{KEPT}": max(throughput), f"latency gain{KEPT}": max(latency)}


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


def gains_by_compute(inputs: Inputs, rules: KernelRules | None, reading: str = "evaluated") -> tuple[Floats, Floats]:
    """Throughput and latency of the appliance over the baseline, each of shape (shares, requests)."""
    theirs = [_most_and_one(inputs, rules, baseline(inputs, rules), request) for request in inputs.requests]
    pairs = []
    for share in inputs.compute_shares:
        replica = on_appliance(inputs, rules, share, reading)
        ours = [_most_and_one(inputs, rules, replica, request) for request in inputs.requests]
        throughput = [own[0] / other[0] for own, other in zip(ours, theirs, strict=True)]
        pairs.append((throughput, [other[1] / own[1] for own, other in zip(ours, theirs, strict=True)]))
    both = np.array(pairs)
    return both[:, 0], both[:, 1]


def _most_and_one(
    inputs: Inputs, rules: KernelRules | None, replica: ServingSystem, request: tuple[int, int]
) -> tuple[float, float]:
    """Output tokens per second of the largest batch, and seconds of one request alone."""
    served = serve_users(inputs, rules, replica, request, (inputs.batch_limit, 1))
    return float(served.output_tokens_per_s[0]), float(served.latency_s[1])


def serve_users(
    inputs: Inputs, rules: KernelRules | None, replica: ServingSystem, request: tuple[int, int], users: Sequence[int]
) -> ServedBatches:
    """So many users at once, as far as they fit."""
    return serve(job(inputs, rules, request), replica, users)


def job(inputs: Inputs, rules: KernelRules | None, request: tuple[int, int]) -> TransformerInference:
    """What both systems serve."""
    return job_of(
        request, rules, model=inputs.model, precision=inputs.precision, kv_precision=inputs.kv_precision,
        activation_precision=inputs.activation_precision, concurrency=inputs.batch_limit, pipeline=inputs.pipeline,
    )  # fmt: skip


def baseline(inputs: Inputs, rules: KernelRules | None) -> ServingSystem:
    """Servers of accelerators, each with its own memory."""
    return _replica(inputs, rules, _base(inputs), inputs.tensor)


def on_appliance(inputs: Inputs, rules: KernelRules | None, share: float, reading: str) -> ServingSystem:
    """So much of the baseline's compute as one accelerator on the appliance's memory."""
    appliance = load_memory_appliance(inputs.appliance)
    tier = appliance.tier(appliance.evaluated_bytes_per_s if reading == "evaluated" else None)
    device = _grown(inputs, share)
    memory = {
        "name": f"{device.name} on {appliance.name}", "memory_bytes_per_s": tier.bandwidth_bytes_per_s,
        "capacity_bytes": tier.capacity_bytes, "memory_j_per_byte": tier.energy_j_per_byte,
    }  # fmt: skip
    return _replica(inputs, rules, device.model_copy(update=memory), 1)


def behind_ports(inputs: Inputs) -> ServingSystem:
    """The same accelerator on a fabric whose memory is the appliance, all its ports for it."""
    part = load_memory_appliance(inputs.appliance)
    bare = _replica(inputs, None, _grown(inputs, 1.0), 1)
    servers = bare.fabric.model_dump(by_alias=False)
    ports = {"memory": {"kind": "appliances", "part": part, "per_server": 1, "ports": part.ports}}
    energy = {"port_energy_j_per_byte": servers["network_energy_j_per_byte"]}
    fabric = TypeAdapter(Fabric).validate_python(servers | ports | energy | {"kind": "divided_ports"})
    return replace(bare, fabric=fabric)


def _grown(inputs: Inputs, share: float) -> Device:
    """The accelerators of a server as one, or a share of them."""
    base, several = _base(inputs), share * inputs.tensor
    return base.model_copy(
        update={
            "name": f"{several:g} x {base.name}", "l2_bytes": several * base.l2_bytes,
            "flops_per_s": {name: several * rate for name, rate in base.flops_per_s.items()},
            "num_sm": max(round(several * base.num_sm), 1),
            "memory_bytes_per_s": several * base.memory_bytes_per_s,
        }
    )  # fmt: skip


def _base(inputs: Inputs) -> Device:
    device = load_device(inputs.device)
    size_bytes = inputs.capacity_bytes or device.capacity_bytes
    name = f"{device.name} of {size_bytes / 1e9:g} GB"
    return device.model_copy(update={"name": name, "like": device.name, "aliases": (), "capacity_bytes": size_bytes})


def _replica(inputs: Inputs, rules: KernelRules | None, device: Device, tensor: int) -> ServingSystem:
    """By the paper's rules, a message between stages has no fixed time."""
    system = system_of(inputs.device)
    if rules is not None:
        system = system.model_copy(update={"network_alpha_s": 0.0})
    fabric = servers(
        system.model_copy(update={"gpus_per_server": tensor}), tensor * inputs.pipeline,
        nvlink_bandwidth_bytes_per_s=inputs.link_bytes_per_s,
        network_bandwidth_bytes_per_s=inputs.stage_link_bytes_per_s,
    )  # fmt: skip
    return ServingSystem(device, fabric, tensor, inputs.pipeline)
