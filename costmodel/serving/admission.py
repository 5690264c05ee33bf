"""How many requests the memory of the ranks holds: weights, runtime, and the KV cache of each request."""

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Device
from costmodel.serving.backends import ServingCurve
from costmodel.serving.step import ACTIVATION, Precisions, kv_token_bytes
from costmodel.workloads.transformer.shapes import TransformerShape, layer_parameters

MEMORY_SHARE = 0.9
"""of the device's memory that an engine takes, the default of vLLM and TensorRT-LLM"""


def cache_tokens(
    shape: TransformerShape, device: Device, tensor: int, precisions: Precisions, curve: ServingCurve
) -> float:
    """Tokens of keys and values for which a rank has memory; below 0 where the weights alone do not fit."""
    free_bytes = MEMORY_SHARE * device.capacity_bytes - weight_bytes(shape, tensor, precisions) - curve.runtime_bytes
    return free_bytes / kv_token_bytes(shape, tensor, precisions.kv)


def weight_bytes(shape: TransformerShape, tensor: int, precisions: Precisions) -> float:
    """Of one rank: layers in the precision of the weights, the vocabulary in bf16."""
    layer = float(layer_parameters(shape, np.array([float(tensor)]))[0])
    vocabulary = BYTES_OF_PRECISION[ACTIVATION] * shape.vocabulary_parameters / tensor
    return shape.layers * layer * BYTES_OF_PRECISION[precisions.weights] + vocabulary


def memory_slots(tokens: float, input_tokens: int, output_tokens: int, curve: ServingCurve) -> int:
    """Requests that a cache of so many tokens runs at once on average; 0 where not even one fits to its end."""
    if tokens < input_tokens + output_tokens:
        return 0
    return max(round(tokens / (input_tokens + curve.reserved_share * output_tokens)), 1)


def does_not_fit(
    shape: TransformerShape,
    device: Device,
    tensor: int,
    precisions: Precisions,
    curve: ServingCurve,
    request_tokens: int,
) -> str:
    """Why not even one request runs, by how much it misses, and what would help."""
    token_bytes = kv_token_bytes(shape, tensor, precisions.kv)
    missing = token_bytes * (request_tokens - cache_tokens(shape, device, tensor, precisions, curve))
    weights = weight_bytes(shape, tensor, precisions)
    helps = [f"more tensor ranks than {tensor}"]
    helps += ["fp8 weights"] if precisions.weights != "fp8" else []
    helps += ["an fp8 KV cache"] if precisions.kv != "fp8" else []
    return (
        f"tensor: each of {tensor} ranks lacks {missing / 1e9:.1f} GB for one request of {request_tokens} tokens: "
        f"{weights / 1e9:.1f} GB of weights, {curve.runtime_bytes / 1e9:.1f} GB of runtime and "
        f"{token_bytes * request_tokens / 1e9:.1f} GB of KV cache in {MEMORY_SHARE:g} x "
        f"{device.capacity_bytes / 1e9:.0f} GB of {device.name}; {', '.join(helps)} or shorter requests would help"
    )
