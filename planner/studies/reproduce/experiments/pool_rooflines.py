"""Memory units for the intensity of each workload: intensities, and the ridges that the method of SiPAM gives.

Two readings of the I/Os. As their own: each carries what the part says. Normalized: all of them together carry what
the baseline's memory and links do, as the evaluation of the paper says; a unit is then faster than an I/O.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Literal, Self

from pydantic import Field

from costmodel.hardware.device import Device, Precision
from costmodel.memory_pool.demand import Demands
from costmodel.memory_pool.loop import Allocation, allocate
from costmodel.memory_pool.pool import MemoryPool
from costmodel.parallelism.mappings import Mappings
from costmodel.spec import BytesPerSecond, Spec
from costmodel.workloads import TransformerInference, TransformerTraining, Workload
from costmodel.workloads.transformer.shapes import Model
from planner.studies.reproduce.experiments.counted_step import CountedStep
from planner.studies.reproduce.experiments.static_batches import PRODUCT, ROOMY_BYTES

Phase = Literal["training", "inference"]
PHASES: tuple[Phase, ...] = ("training", "inference")
OWN, NORMALIZED = "I/Os as their own", "normalized"
READINGS = (OWN, NORMALIZED)


class Baseline(Spec):
    """An accelerator with local memory and electrical links."""

    device: Device
    cluster_bandwidth_bytes_per_s: BytesPerSecond
    """of the links to its cluster, as the normalization counts them"""
    network_bandwidth_bytes_per_s: BytesPerSecond
    """of the link between clusters, likewise"""

    @property
    def total_bytes_per_s(self) -> float:
        """Memory and links together."""
        links = self.cluster_bandwidth_bytes_per_s + self.network_bandwidth_bytes_per_s
        return self.device.memory_bytes_per_s + links


class Inputs(Spec):
    """Workloads, the baseline, and the photonic I/Os and memory units in its place."""

    models: dict[str, Model] = Field(min_length=1)
    """by the label that quantities carry"""
    sequence: int = Field(ge=1)
    """tokens of a sequence"""
    global_batch: int = Field(ge=1)
    micro_batch: int = Field(ge=1)
    other_batches: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """global and micro-batches that are tried beside"""
    precision: Precision
    baseline: Baseline
    pool: MemoryPool

    @property
    def flops_per_s(self) -> float:
        """Peak of one accelerator, the same on all systems."""
        return self.baseline.device.matrix_flops_per_s(self.precision)

    def with_batch(self, batch: int) -> Self:
        """The same with another batch, global and micro."""
        return self.model_copy(update={"global_batch": batch, "micro_batch": batch})

    def intensity(self, label: str, phase: Phase) -> float:
        """FLOP per byte of the undivided step."""
        step = self.step(label, phase)
        return float(step.demands(step.mappings(1)).flops_per_byte[0])

    def step(self, label: str, phase: Phase) -> CountedStep:
        """Step of one model and phase, whose traffic is counted."""
        return CountedStep(
            model=self.models[label],
            phase=phase,
            sequence=self.sequence,
            global_batch=self.global_batch,
            micro_batch=self.micro_batch,
        )

    def job(self, label: str, phase: Phase, *, attention: str = "fused") -> Workload:
        """The same as a job of the planner; of inference, a batch of prompts with a token each."""
        fields = {"model": self.models[label], "precision": self.precision}
        if phase == "inference":
            prompts = {"input_tokens": self.sequence, "output_tokens": 1, "batching": "static"}
            return TransformerInference.model_validate(fields | prompts | {"concurrency": self.global_batch})
        step = {"sequence": self.sequence, "global_batch": self.global_batch, "attention": attention}
        return TransformerTraining.model_validate(fields | step)

    def product_intensity(self, label: str, phase: Phase, *, attention: str = "fused") -> float:
        """FLOP per byte of the undivided step of that job, whatever the memory holds."""
        roomy = self.baseline.device.model_copy(update={"capacity_bytes": ROOMY_BYTES})
        job = self.job(label, phase, attention=attention)
        graph = job.op_graph(Mappings.of(micro_batch=self.micro_batch, zero=0), roomy)
        step = graph.alone("prefill") if phase == "inference" else graph
        return float((step.flops / step.memory_bytes)[0])

    def pools(self) -> dict[str, MemoryPool]:
        """The pool under each reading."""
        slower = self.pool.shoreline.with_bandwidth(self.baseline.total_bytes_per_s)
        return {OWN: self.pool, NORMALIZED: self.pool.model_copy(update={"shoreline": slower, "spread": True})}


@dataclass(frozen=True)
class GivenRoofline:
    """Allocation of the pool to one workload under one reading."""

    label: str
    phase: Phase
    reading: str
    whole: Demands
    """undivided, one row"""
    divided: Demands
    """under the mapping that the method ends with, one row"""
    allocation: Allocation
    bytes_per_s: float
    """of an accelerator's units"""
    capacity_bytes: float
    """likewise"""

    @property
    def name(self) -> str:
        return f"{self.label} {self.phase}"


def given(inputs: Inputs) -> Iterator[GivenRoofline]:
    """Allocations that the method makes to each workload, by reading, phase and model."""
    for (reading, pool), phase, label in product(inputs.pools().items(), PHASES, inputs.models):
        step = inputs.step(label, phase)
        found = allocate(step, inputs.flops_per_s, pool)
        result = found.result
        if found.stop == "accelerator limit":
            raise ValueError(
                f"models: {label} {phase}, {reading}: {found.reason}; give a larger batch or another shape"
            )
        mappings = step.mappings(result.accelerators)
        of_units = pool.choices(result.units)
        yield GivenRoofline(
            label=label,
            phase=phase,
            reading=reading,
            whole=step.demands(step.mappings(1)),
            divided=step.demands(mappings.take(mappings.where(result.mapping))),
            allocation=found,
            bytes_per_s=float(of_units.bytes_per_s[0]),
            capacity_bytes=float(of_units.capacity_bytes[0]),
        )


def compute(inputs: Inputs) -> dict[str, float]:
    """Intensities of the undivided steps, and ridges in FLOP/B."""
    device = inputs.baseline.device
    found = {"ridge of the baseline": inputs.flops_per_s / device.memory_bytes_per_s}
    for each in given(inputs):
        result = each.allocation.result
        found[f"intensity {each.name}"] = float(each.whole.flops_per_byte[0])
        found[f"divided intensity {each.name}, {each.reading}"] = result.next_flops_per_byte
        found[f"ridge {each.name}, {each.reading}"] = inputs.flops_per_s / each.bytes_per_s
        found[f"units {each.name}, {each.reading}"] = result.units
        found[f"accelerators {each.name}, {each.reading}"] = result.accelerators
    for phase, label in product(PHASES, inputs.models):
        found[f"intensity {label} {phase}{PRODUCT}"] = inputs.product_intensity(label, phase)
    ratios = [inputs.product_intensity(m, "training") / inputs.product_intensity(m, "inference") for m in inputs.models]
    found[f"least training intensity over that of inference{PRODUCT}"] = min(ratios)
    for label in inputs.models:
        unfused = inputs.product_intensity(label, "training", attention="unfused")
        found[f"intensity {label} training, attention unfused{PRODUCT}"] = unfused
    for batch in (inputs.global_batch, *inputs.other_batches):
        found[f"least training intensity over that of inference, batch {batch}"] = _least_ratio(
            inputs.with_batch(batch)
        )
    return found


def _least_ratio(inputs: Inputs) -> float:
    return min(inputs.intensity(label, "training") / inputs.intensity(label, "inference") for label in inputs.models)
