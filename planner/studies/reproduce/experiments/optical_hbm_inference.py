"""Time of one layer, decode and prefill, with another memory and another last cache; figure 6 of the paper.

Effective bandwidth is min(memory, cache / passes), each byte passing the cache on being filled and on being read.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from costmodel.hardware.device import Device, Precision, load_device
from costmodel.hardware.memory.limits import cache_limit, effective_bytes_per_s
from costmodel.hardware.optical_hbm import load_optical_hbm
from costmodel.serving.static import Engine, KernelRules, layer_s
from costmodel.spec import BytesPerSecond, Spec
from costmodel.workloads.transformer.shapes import Model, shape_of

Floats = NDArray[np.float64]
OWN_CACHE, FAST_CACHE, NO_LIMIT = "own L2", "fast L2", "no L2 limit"


class Inputs(Spec):
    """A device, its optical memory, and the passes to time on it."""

    device: str
    precision: Precision = "fp16"
    memory: str
    """optical HBM of the catalog"""
    fast_l2_bytes_per_s: BytesPerSecond
    """bandwidth of the cache in the second optical system"""
    l2_passes: float = Field(default=2.0, ge=1)
    """crossings of the cache by one byte"""
    models: dict[str, Model] = Field(min_length=1)
    """by the label that quantities carry"""
    tensor: int = Field(ge=1)
    link_bytes_per_s: BytesPerSecond | None = None
    """egress to the tensor group; absent: all-reduces are left out"""
    batch: int = Field(ge=1)
    decode_contexts: tuple[int, ...] = ()
    """tokens that a decode step attends to"""
    prefill_lengths: tuple[int, ...] = ()
    """tokens of each sequence of a prefill"""
    rules: KernelRules = KernelRules()


@dataclass(frozen=True)
class Speedups:
    """Time of the baseline over that of each system, by token count."""

    phase: str
    model: str
    tokens: tuple[int, ...]
    gains: dict[str, Floats]
    """system -> shape (tokens,)"""


def compute(inputs: Inputs) -> dict[str, float]:
    """Mean gain over token counts by phase, model and system, and over models for the prefill."""
    found = {
        f"{each.phase} gain {each.model}, {system}": float(gain.mean())
        for each in speedups(inputs)
        for system, gain in each.gains.items()
    }
    for phase in ("decode", "prefill"):
        for system in (OWN_CACHE, FAST_CACHE, NO_LIMIT):
            gains = [value for key, value in found.items() if key.startswith(phase) and key.endswith(system)]
            if gains:
                found[f"{phase} gain mean, {system}"] = float(np.mean(gains))
    return found


def speedups(inputs: Inputs) -> list[Speedups]:
    """Gains of each phase that is asked for, and each model."""
    device = load_device(inputs.device)
    bandwidths = _bandwidths(inputs, device)
    baseline = bandwidths.pop("baseline")
    phases = (("decode", inputs.decode_contexts), ("prefill", inputs.prefill_lengths))
    found = []
    for phase, tokens in phases:
        for label, model in inputs.models.items() if tokens else ():
            count = np.asarray(tokens, np.float64)
            new, past = (1.0, count) if phase == "decode" else (count, 0.0)
            times = {
                system: layer_s(
                    shape_of(model), _engine(inputs, device, rate), inputs.rules, inputs.batch, new, past
                ).total_s
                for system, rate in {"baseline": baseline, **bandwidths}.items()
            }
            gains = {system: times["baseline"] / times[system] for system in bandwidths}
            found.append(Speedups(phase, label, tokens, gains))
    return found


def _bandwidths(inputs: Inputs, device: Device) -> dict[str, float]:
    """Effective memory bandwidth of each system, bytes/s."""
    optical = load_optical_hbm(inputs.memory).tier().bandwidth_bytes_per_s
    own = cache_limit(device, passes=inputs.l2_passes)
    fast = cache_limit(device, passes=inputs.l2_passes, bandwidth_bytes_per_s=inputs.fast_l2_bytes_per_s)
    return {
        "baseline": effective_bytes_per_s(device.memory_bytes_per_s, [own]),
        OWN_CACHE: effective_bytes_per_s(optical, [own]),
        FAST_CACHE: effective_bytes_per_s(optical, [fast]),
        NO_LIMIT: effective_bytes_per_s(optical, [own.model_copy(update={"is_on": False})]),
    }


def _engine(inputs: Inputs, device: Device, bytes_per_s: float) -> Engine:
    return Engine(
        flops_per_s=device.matrix_flops_per_s(inputs.precision), memory_bytes_per_s=bytes_per_s,
        capacity_bytes=device.capacity_bytes, tensor=inputs.tensor, link_bytes_per_s=inputs.link_bytes_per_s,
    )  # fmt: skip
