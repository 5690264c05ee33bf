"""Arithmetic intensity of the layers of a transformer, prefill and decode; figure 1 of the Photonic Fabric's paper.

Operations and bytes are those of a candidate of the planner, whatever the memory holds. Unfused attention is a rule
beside: it forms masked scores too, which cross the memory four times: written, read and written by the softmax, read.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from costmodel.hardware.device import Device, Precision, load_device
from costmodel.parallelism.mappings import Mappings
from costmodel.serving.kernel_rules import KernelRules
from costmodel.spec import Spec
from costmodel.workloads.transformer.shapes import Model
from planner.studies.reproduce.experiments.static_batches import ROOMY_BYTES, job_of

Floats = NDArray[np.float64]
FUSED, UNFUSED = "fused", "unfused"
LAYERS_ALONE = {
    FUSED: KernelRules(vocabulary=False),
    UNFUSED: KernelRules(vocabulary=False, fuses_attention=False, skips_masked=False),
}
"""what is counted, by label; the vocabulary, whose size the batch alone decides, is left out"""


class Inputs(Spec):
    """A dense model, and the batches and lengths that are drawn."""

    model: Model
    device: str
    precision: Precision
    batches: tuple[int, ...] = Field(min_length=2)
    """ascending"""
    lengths: tuple[int, ...] = Field(min_length=2)
    """ascending; tokens of the input, and that a decode step attends to"""


def intensities(inputs: Inputs, label: str) -> tuple[Floats, Floats]:
    """FLOP per byte of the layers in the prefill and in a decode step, each of shape (batches, lengths)."""
    roomy = load_device(inputs.device).model_copy(update={"capacity_bytes": ROOMY_BYTES})
    columns = [_of_length(inputs, label, length, roomy) for length in inputs.lengths]
    prefill, decode = np.moveaxis(np.array(columns), 0, -1)
    return prefill, decode


def _of_length(inputs: Inputs, label: str, length: int, device: Device) -> tuple[Floats, Floats]:
    """Of all batches; the step attends to the input and its own token."""
    job = job_of(
        (length, 2), LAYERS_ALONE[label], model=inputs.model, precision=inputs.precision,
        kv_precision=inputs.precision, activation_precision=inputs.precision, concurrency=inputs.batches[-1],
    )  # fmt: skip
    graph = job.op_graph(Mappings.of(micro_batch=np.asarray(inputs.batches)), device)
    prefill, decode = (graph.alone(phase) for phase in ("prefill", "decode"))
    return prefill.flops / prefill.memory_bytes, decode.flops / decode.memory_bytes


def compute(inputs: Inputs) -> dict[str, float]:
    """Trends over batches (rows) and lengths (columns); intensities in FLOP/B, lengths in tokens."""
    device, length = load_device(inputs.device), np.asarray(inputs.lengths, np.float64)
    found = {"ridge": device.matrix_flops_per_s(inputs.precision) / device.memory_bytes_per_s}
    for label in LAYERS_ALONE:
        prefill, decode = intensities(inputs, label)
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
