"""Time of a layer, decode and prefill, with another memory and another last cache; figure 6 of the paper.

All modules serve memory, and the bandwidth of the last cache limits theirs, as on any fabric with such modules. Each
pass is that of a candidate of a job, by the paper's rules and by fitted kernels. The paper times layers whatever the
memory holds, and so do we.
"""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from costmodel.hardware.device import Device, Precision, load_device
from costmodel.hardware.memory.limits import L2_PASSES
from costmodel.hardware.memory.providers import OpticalModules
from costmodel.hardware.optical_hbm import load_optical_hbm
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Floats
from costmodel.serving.kernel_rules import KernelRules
from costmodel.spec import BytesPerSecond, Spec
from costmodel.workloads.transformer.shapes import Model
from planner.studies.reproduce.experiments.static_batches import (
    PRODUCT,
    ROOMY_BYTES,
    ServingSystem,
    job_of,
    serve,
    servers,
)

OWN_CACHE, FAST_CACHE, NO_LIMIT = "own L2", "fast L2", "no L2 limit"


class Inputs(Spec):
    """A device, its optical memory, and the passes to time on it."""

    device: str
    precision: Precision = "fp16"
    memory: str
    """optical HBM of the catalog"""
    fast_l2_bytes_per_s: BytesPerSecond
    """bandwidth of the cache in the second optical system"""
    l2_passes: float = Field(default=L2_PASSES, ge=1)
    """crossings of the cache by one byte"""
    models: dict[str, Model] = Field(min_length=1)
    """by the label that quantities carry"""
    tensor: int = Field(ge=1)
    batch: int = Field(ge=1)
    decode_contexts: tuple[int, ...] = ()
    """tokens that a decode step attends to"""
    prefill_lengths: tuple[int, ...] = ()
    """tokens of each sequence of a prefill"""
    rules: KernelRules


@dataclass(frozen=True)
class Speedups:
    """Time of the baseline over that of each system, by token count."""

    phase: str
    model: str
    tokens: tuple[int, ...]
    gains: dict[str, Floats]
    """system -> shape (tokens,)"""


def compute(inputs: Inputs) -> dict[str, float]:
    """Mean gain over token counts by phase, model and system, and over models for each phase; by the paper's rules, and
    again by the product's model."""
    return _means(speedups(inputs, inputs.rules), "") | _means(speedups(inputs, None), PRODUCT)


def _means(gained: list[Speedups], label: str) -> dict[str, float]:
    found = {
        f"{each.phase} gain {each.model}, {system}{label}": float(gain.mean())
        for each in gained
        for system, gain in each.gains.items()
    }
    for phase in dict.fromkeys(each.phase for each in gained):
        for system in (OWN_CACHE, FAST_CACHE, NO_LIMIT):
            means = [float(each.gains[system].mean()) for each in gained if each.phase == phase]
            found[f"{phase} gain mean, {system}{label}"] = float(np.mean(means))
    return found


def speedups(inputs: Inputs, rules: KernelRules | None) -> list[Speedups]:
    """Gains of each phase that is asked for, and each model."""
    replicas = {name: _replica(inputs, device) for name, device in systems(inputs).items()}
    found = []
    for phase, tokens in (("decode", inputs.decode_contexts), ("prefill", inputs.prefill_lengths)):
        for label, model in inputs.models.items() if tokens else ():
            times = {name: _pass_s(inputs, rules, model, phase, replica) for name, replica in replicas.items()}
            baseline_s = times.pop("baseline")
            gains = {system: baseline_s / time_s for system, time_s in times.items()}
            found.append(Speedups(phase, label, tokens, gains))
    return found


def systems(inputs: Inputs) -> dict[str, Device]:
    """The device with its own memory, and with modules behind each cache."""
    base = load_device(inputs.device)
    fast = base.model_copy(update={"l2_bytes_per_s": inputs.fast_l2_bytes_per_s})
    behind = {OWN_CACHE: (base, inputs.l2_passes), FAST_CACHE: (fast, inputs.l2_passes), NO_LIMIT: (base, None)}
    return {"baseline": base} | {name: _with_modules(inputs, *each) for name, each in behind.items()}


def _with_modules(inputs: Inputs, base: Device, l2_passes: float | None) -> Device:
    """All ports serve memory."""
    choices = OpticalModules(part=load_optical_hbm(inputs.memory), l2_passes=l2_passes).choices()
    return choices.device(len(choices) - 1, base)


def _replica(inputs: Inputs, device: Device) -> ServingSystem:
    roomy = device.model_copy(update={"capacity_bytes": ROOMY_BYTES})
    return ServingSystem(roomy, servers(system_of(inputs.device), inputs.tensor), inputs.tensor)


def _pass_s(inputs: Inputs, rules: KernelRules | None, model: Model, phase: str, replica: ServingSystem) -> Floats:
    """Of all layers, for each token count. A decode step attends to the context and its own token: the second of two,
    of which the first comes out of the prefill."""
    if phase == "decode":
        counts = inputs.decode_contexts
        return np.array([_served(inputs, rules, model, count, replica)[1] for count in counts])
    return np.array([_served(inputs, rules, model, count, replica)[0] for count in inputs.prefill_lengths])


def _served(
    inputs: Inputs, rules: KernelRules | None, model: Model, tokens: int, replica: ServingSystem
) -> tuple[float, float]:
    """Time of the prefill and of a decode step, s."""
    job = job_of(
        (tokens, 2), rules, model=model, precision=inputs.precision, kv_precision=inputs.precision,
        activation_precision=inputs.precision, concurrency=inputs.batch,
    )  # fmt: skip
    served = serve(job, replica, (inputs.batch,))
    return float(served.prefill_s[0]), float(served.token_s[0])
