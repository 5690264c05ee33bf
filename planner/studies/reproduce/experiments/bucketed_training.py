"""Data-parallel training whose gradients are all-reduced in buckets: speed-ups; figure 4a of the paper on Lumorph.

Speed-ups are ratios of times of the same step, under one reading each: full buckets are the ratio of one all-reduce
to the other. Alone, all gradients are sent, the last bucket being smaller, and nothing is computed. After the
backward pass and beside it, a step has its compute time too, that of a candidate of the planner; beside it, as large
a share hides as of a candidate. The planner's own candidates are compared too: rings over an ideal switch, and the
plans that a photonic fabric offers.
"""

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from costmodel.catalog import unknown_name
from costmodel.hardware.device import Device, Precision, load_device
from costmodel.spec import Bytes, Spec
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.shapes import Model
from planner.studies.reproduce.experiments.all_reduce_algorithms import BOUND, AllReduce, SharedNetwork, algorithms
from planner.studies.reproduce.experiments.bucketed_step import (
    ReplicaStep,
    on_lightpath,
    over_a_switch,
    step_of_replica,
)
from planner.studies.reproduce.experiments.collective_times import size
from planner.studies.reproduce.experiments.crossings import crossings
from planner.studies.reproduce.experiments.static_batches import PRODUCT

Floats = NDArray[np.float64]
FULL, ALONE, AFTER, BESIDE = (
    "full buckets", "communication alone", "after the backward pass", "beside the backward pass",
)  # fmt: skip
READINGS = (FULL, ALONE, AFTER, BESIDE)


class Replica(Spec):
    """Model, batch and device of each GPU."""

    model: Model
    sequence: int = Field(ge=1)
    """tokens of a sequence"""
    sequences: int = Field(ge=1)
    """per GPU and step"""
    precision: Precision
    device: str


class Inputs(Spec):
    """Network, replica, sizes of buckets, and the speed-up that is sought."""

    network: SharedNetwork
    ranks: tuple[int, ...] = Field(min_length=1)
    replica: Replica
    bucket_step_bytes: Bytes = Field(ge=1e5, alias="bucket_step")
    """buckets are tried in whole steps; at least 100 kB"""
    largest_bucket_bytes: Bytes = Field(gt=0, alias="largest_bucket")
    shown_bytes: tuple[Bytes, ...] = Field(alias="shown")
    """buckets whose speed-ups are returned"""
    over: str
    """the algorithm that speed-ups are over"""
    speedup: float = Field(gt=1)
    """that is sought"""

    @model_validator(mode="after")
    def _fields_agree(self) -> Self:
        known = algorithms(self.network)
        if self.over not in known:
            raise unknown_name("algorithm", self.over, known)
        if self.largest_bucket_bytes < self.bucket_step_bytes:
            raise ValueError("largest_bucket: is smaller than bucket_step; give at least one step")
        return self

    def sweep_bytes(self) -> Floats:
        """Buckets that are tried, shape (B,)."""
        steps = np.arange(1, np.floor(self.largest_bucket_bytes / self.bucket_step_bytes) + 1)
        return np.asarray(steps * self.bucket_step_bytes)


@dataclass(frozen=True)
class SpeedupCurve:
    """Speed-up of one algorithm under one reading, shape (B,) by bucket."""

    algorithm: str
    reading: str
    ranks: int
    speedup: Floats


def compute(inputs: Inputs) -> dict[str, float]:
    """Speed-ups, the most of each, and the largest bucket in bytes with what is sought, 0 where none has it."""
    found: dict[str, float] = {}
    shown, sweep = np.array(inputs.shown_bytes), inputs.sweep_bytes()
    for ranks in inputs.ranks:
        for curve in curves(inputs, ranks, shown):
            for bucket, speedup in zip(shown, curve.speedup, strict=True):
                found[f"speed-up {_name(curve)}, {size(bucket)}"] = float(speedup)
        for curve in curves(inputs, ranks, sweep):
            found[f"most speed-up {_name(curve)}"] = float(curve.speedup.max())
            reached = np.where(curve.speedup >= inputs.speedup, sweep, 0.0)
            found[f"largest bucket {_name(curve)}"] = float(reached.max())
        for bucket in inputs.shown_bytes:
            for reading, speedup in by_product(inputs, ranks, bucket).items():
                found[f"speed-up, {reading}, {ranks} GPUs, {size(bucket)}{PRODUCT}"] = speedup
        found |= _limits(inputs, ranks)
    step = step_of(inputs, inputs.ranks[0])
    return found | {"gradients": step.gradient_bytes, "compute": step.compute_s}


def curves(inputs: Inputs, ranks: int, buckets_bytes: Floats) -> list[SpeedupCurve]:
    """Speed-ups of each algorithm under each reading over `buckets_bytes`, shape (B,)."""
    known, step = algorithms(inputs.network), step_of(inputs, ranks)
    baseline = dict(zip(READINGS, _times_s(known[inputs.over], ranks, step, buckets_bytes), strict=True))
    return [
        SpeedupCurve(name, reading, ranks, baseline[reading] / time_s)
        for name, all_reduce_s in known.items()
        if name not in (inputs.over, BOUND)
        for reading, time_s in zip(READINGS, _times_s(all_reduce_s, ranks, step, buckets_bytes), strict=True)
    ]


def step_of(inputs: Inputs, ranks: int, bucket_bytes: float | None = None) -> ReplicaStep:
    """Step of a GPU whose gradients go around rings over an ideal switch; its compute time is that of any fabric."""
    fabric = over_a_switch(inputs.network, ranks, inputs.replica.device)
    return step_of_replica(_job(inputs, ranks, bucket_bytes), ranks, _device(inputs), fabric)


def by_product(inputs: Inputs, ranks: int, bucket_bytes: float) -> dict[str, float]:
    """Speed-up of the best plan of a photonic fabric over such rings by reading, both as candidates."""
    job, fabric = _job(inputs, ranks, bucket_bytes), on_lightpath(inputs.network, ranks)
    ring, light = step_of(inputs, ranks, bucket_bytes), step_of_replica(job, ranks, _device(inputs), fabric)
    return {
        ALONE: ring.exchange_s / light.exchange_s,
        AFTER: float(ring.after_s(ring.exchange_s) / light.after_s(light.exchange_s)),
        BESIDE: float(ring.beside_s(ring.exchange_s) / light.beside_s(light.exchange_s)),
    }


def buckets_of(gradient_bytes: float, bucket_bytes: Floats) -> tuple[Floats, Floats]:
    """Full buckets, and bytes of the last one, smaller or empty; each shaped as `bucket_bytes`."""
    full = np.floor(gradient_bytes / bucket_bytes)
    return full, gradient_bytes - full * bucket_bytes


def _times_s(all_reduce_s: AllReduce, ranks: int, step: ReplicaStep, buckets_bytes: Floats) -> tuple[Floats, ...]:
    """Time under each of READINGS, each of shape (B,)."""
    full_s = all_reduce_s(buckets_bytes, ranks)
    full, rest_bytes = buckets_of(step.gradient_bytes, buckets_bytes)
    rest_s = np.where(rest_bytes > 0, all_reduce_s(rest_bytes, ranks), 0.0)
    alone_s = full * full_s + rest_s
    return full_s, alone_s, step.after_s(alone_s), step.beside_s(alone_s)


def _limits(inputs: Inputs, ranks: int) -> dict[str, float]:
    """Speed-ups of full buckets that hold nothing, and the largest full buckets with the one that is sought."""
    known, sweep = algorithms(inputs.network), inputs.sweep_bytes()
    found: dict[str, float] = {}
    for name, all_reduce_s in known.items():
        if name in (inputs.over, BOUND):
            continue
        excess = partial(_excess, known[inputs.over], all_reduce_s, ranks, inputs.speedup)
        empty = float(excess(np.zeros(1))[0]) + inputs.speedup
        found[f"speed-up of {name}, empty buckets, {ranks} GPUs"] = empty
        roots_bytes = crossings(excess, sweep)
        found |= {f"exact bucket of {name}, {ranks} GPUs": float(root) for root in roots_bytes[-1:]}
    return found


def _excess(over: AllReduce, of: AllReduce, ranks: int, sought: float, message_bytes: Floats) -> Floats:
    """Speed-up of one all-reduce over another, less what is sought; shaped as the messages."""
    return np.asarray(over(message_bytes, ranks) / of(message_bytes, ranks) - sought)


def _job(inputs: Inputs, ranks: int, bucket_bytes: float | None) -> TransformerTraining:
    replica = inputs.replica
    return TransformerTraining(
        model=replica.model, global_batch=replica.sequences * ranks, sequence=replica.sequence,
        precision=replica.precision, zero=0, overlap={}, gradient_bucket=bucket_bytes,
    )  # fmt: skip


def _device(inputs: Inputs) -> Device:
    return load_device(inputs.replica.device)


def _name(curve: SpeedupCurve) -> str:
    return f"of {curve.algorithm}, {curve.reading}, {curve.ranks} GPUs"
