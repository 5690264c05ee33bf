"""One decoding step by kind of operation: a tensor group against one memory that it shares, and as the group grows.

The appliance's accelerators compute as one on one memory, so that nothing is sent. Figures 11 and 12 of the paper, by
the kernels that price candidates of the planner.
"""

from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from costmodel.hardware.device import Device, Precision, load_device
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.parallelism.mappings import Mappings
from costmodel.spec import Spec
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.shapes import Model

KINDS = {"matrix": "products", "attention": "attention", "elementwise": "norms and residuals"}
SENT = "communication"
Degree = Annotated[int, Field(ge=1)]
Tokens = Annotated[int, Field(ge=1)]


class DecodingBatch(Spec):
    """What decodes, and in what batch."""

    model: Model
    precision: Precision
    kv_precision: Precision
    batch: int = Field(ge=1)

    def operations_s(self, device: Device, tensor: int, tokens_in: int, tokens_out: int) -> dict[str, float]:
        """Seconds of one decoding step by kind of operation; gaps between kernels are left out."""
        job = TransformerInference(
            model=self.model, precision=self.precision, kv_precision=self.kv_precision, concurrency=self.batch,
            input_tokens=tokens_in, output_tokens=tokens_out, batching="static",
        )  # fmt: skip
        graph = job.op_graph(Mappings.of(tensor=[tensor], micro_batch=self.batch), device).alone("decode")
        assert graph.kernels is not None
        found = dict.fromkeys((*KINDS.values(), SENT), 0.0)
        for block, operator, _, _, times in graph.operators_of(0):
            seconds = block.column(graph.kernels.operators_s([operator])[0][2])[block.shape[0]]
            found[KINDS[operator.kind]] += float(seconds) * times
        for _, _, message_bytes, times in graph.messages_of(0):
            one = np.array([float(tensor)]), np.array([message_bytes]), np.array([device.link_bytes_per_s])
            found[SENT] += float(graph.kernels.all_reduce_s(*one)[0]) * times if tensor > 1 else 0.0
        return found


class ServerAndAppliance(DecodingBatch):
    """A server against the appliance."""

    device: str
    tensor: Degree
    """accelerators of the server, and on the appliance"""
    appliance: str
    requests: tuple[tuple[Tokens, Tokens], ...] = Field(min_length=1)
    """tokens in and out"""


class GrowingGroup(DecodingBatch):
    """One request as the tensor group grows."""

    device: str
    tensor: tuple[Degree, ...] = Field(min_length=2)
    """degrees, from 1 up"""
    request: tuple[Tokens, Tokens]

    @model_validator(mode="after")
    def _starts_alone(self) -> "GrowingGroup":
        if self.tensor[0] != 1 or list(self.tensor) != sorted(set(self.tensor)):
            raise ValueError(f"tensor: {list(self.tensor)} must grow from 1, which overheads are relative to")
        return self


class Inputs(Spec):
    """Both studies."""

    comparison: ServerAndAppliance
    profile: GrowingGroup


def compute(inputs: Inputs) -> dict[str, float]:
    """Times on the appliance over those of the server, each the largest over requests, and shares of the overhead."""
    return _over_the_server(inputs.comparison) | _overheads(inputs.profile)


def _over_the_server(given: ServerAndAppliance) -> dict[str, float]:
    pairs = [both(given, request) for request in given.requests]
    found = {
        f"{name} on the appliance over the server": max(ours[name] / theirs[name] for theirs, ours in pairs)
        for name in (*KINDS.values(), SENT)
    }
    products, norms = (found[f"{KINDS[kind]} on the appliance over the server"] for kind in ("matrix", "elementwise"))
    whole = max(sum(ours.values()) / sum(theirs.values()) for theirs, ours in pairs)
    return found | {
        "slowest kind on the appliance over the server": max(found.values()),
        "norms and residuals on the appliance over products": norms / products,
        "all operations on the appliance over the server": whole,
    }


def both(given: ServerAndAppliance, request: tuple[int, int]) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds by kind of operation, of the server and of the appliance."""
    device = load_device(given.device)
    return given.operations_s(device, given.tensor, *request), given.operations_s(_on_appliance(given), 1, *request)


def _on_appliance(given: ServerAndAppliance) -> Device:
    base, appliance = load_device(given.device), load_memory_appliance(given.appliance)
    tier, count = appliance.tier(appliance.evaluated_bytes_per_s), given.tensor
    changes: dict[str, Any] = {
        "name": f"{count} x {base.name} on {appliance.name}", "like": base.name, "num_sm": count * base.num_sm,
        "flops_per_s": {name: count * rate for name, rate in base.flops_per_s.items()},
        "l2_bytes": count * base.l2_bytes, "memory_bytes_per_s": tier.bandwidth_bytes_per_s,
        "capacity_bytes": tier.capacity_bytes,
    }  # fmt: skip
    return base.model_copy(update=changes)


def overheads_s(given: GrowingGroup) -> list[dict[str, float]]:
    """Of each degree above 1: seconds of each kind of operation beyond its share of those of one accelerator."""
    device = load_device(given.device)
    alone, *divided = (given.operations_s(device, tensor, *given.request) for tensor in given.tensor)
    return [
        {name: seconds - alone[name] / tensor for name, seconds in each.items()}
        for tensor, each in zip(given.tensor[1:], divided, strict=True)
    ]


def _overheads(given: GrowingGroup) -> dict[str, float]:
    return {
        f"communication of the overhead, {tensor} GPUs, by the product's model": each[SENT] / sum(each.values())
        for tensor, each in zip(given.tensor[1:], overheads_s(given), strict=True)
    }
