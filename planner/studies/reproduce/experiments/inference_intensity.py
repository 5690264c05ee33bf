"""Arithmetic intensity of the layers of a transformer, prefill and decode; figure 1 of the Photonic Fabric's paper.

Each product reads its matrix and inputs and writes its outputs once. Fused attention reads queries, keys and values
and writes outputs; unfused, the scores cross the memory four times: written, read and written by the softmax, read.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision, load_device
from costmodel.spec import Spec
from costmodel.workloads.transformer.shapes import Model, TransformerShape, shape_of

Floats = NDArray[np.float64]
SCORE_PASSES = 4.0


class Inputs(Spec):
    """A dense model, and the batches and lengths that are drawn."""

    model: Model
    device: str
    precision: Precision
    batches: tuple[int, ...] = Field(min_length=2)
    """ascending"""
    lengths: tuple[int, ...] = Field(min_length=2)
    """ascending; tokens of the input, and that a decode step attends to"""


def flops_per_byte(shape: TransformerShape, batch: ArrayLike, new: ArrayLike, context: ArrayLike, *, size: float,
                   fused: bool) -> Floats:  # fmt: skip
    """Of one layer that processes `new` tokens of each sequence, shapes broadcast; `size`: bytes of a number."""
    sequences, new_tokens, attended = (np.asarray(each, np.float64) for each in (batch, new, context))
    tokens, queries, keys = sequences * new_tokens, shape.query_dim, shape.kv_heads * shape.head_dim
    matrices = (
        (shape.hidden, queries + 2 * keys),
        (queries, shape.hidden),
        (shape.hidden, (shape.ffn_matrices - 1) * shape.ffn),
        (shape.ffn, shape.hidden),
    )
    parameters = sum(rows * columns for rows, columns in matrices)
    activations = sum(map(sum, matrices)) + 2 * queries
    scores = sequences * shape.heads * new_tokens * attended
    numbers = parameters + tokens * activations + 2 * sequences * attended * keys
    if not fused:
        numbers = numbers + SCORE_PASSES * scores
    flops = 2 * tokens * parameters + 4 * scores * shape.head_dim
    return np.asarray(flops / (size * numbers))


def compute(inputs: Inputs) -> dict[str, float]:
    """Trends over batches (rows) and lengths (columns); intensities in FLOP/B, lengths in tokens."""
    shape, size, device = shape_of(inputs.model), BYTES_OF_PRECISION[inputs.precision], load_device(inputs.device)
    batch, length = np.asarray(inputs.batches, np.float64)[:, None], np.asarray(inputs.lengths, np.float64)
    found = {"ridge": device.matrix_flops_per_s(inputs.precision) / device.memory_bytes_per_s}
    for label, fused in (("fused", True), ("unfused", False)):
        prefill = flops_per_byte(shape, batch, length, length, size=size, fused=fused)
        decode = flops_per_byte(shape, batch, 1, length, size=size, fused=fused)
        found[f"prefill intensity, growth with the batch, {label}"] = float((prefill[1:] / prefill[:-1]).min())
        found[f"decode intensity, growth with the batch, {label}"] = float((decode[1:] / decode[:-1]).min())
        found[f"largest decode intensity over that of the prefill, {label}"] = float((decode / prefill).max())
        for row, sequences in enumerate(inputs.batches):
            name = f"batch {sequences}, {label}"
            found[f"prefill intensity, growth with the first lengths, {name}"] = float(
                prefill[row, 1] / prefill[row, 0]
            )
            found[f"length of the highest prefill intensity, {name}"] = float(length[prefill[row].argmax()])
            found[f"decode intensity, last length over first, {name}"] = float(decode[row, -1] / decode[row, 0])
    return found
