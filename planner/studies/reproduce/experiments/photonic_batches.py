"""Throughput against the batch on a shared photonic memory and on a server; figure 8 of the paper."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from costmodel.parallelism.mappings import Floats
from costmodel.serving.kernel_rules import KernelRules
from planner.studies.reproduce.experiments import photonic_inference
from planner.studies.reproduce.experiments.photonic_inference import baseline, job, on_appliance, serve_users
from planner.studies.reproduce.experiments.static_batches import PRODUCT, ServingSystem


class Inputs(photonic_inference.Inputs):
    """Systems and requests as there, and the batches to draw."""

    batches: tuple[int, ...] = Field(min_length=1)
    """those that fit are served, and the largest one beside them"""


@dataclass(frozen=True)
class BatchCurve:
    """Output tokens per second of one system and request against the batch."""

    system: str
    request: tuple[int, int]
    batch: Floats
    output_tokens_per_s: Floats


def compute(inputs: Inputs) -> dict[str, float]:
    """Largest batch, throughput and share of the matrix peak at it, by system and request; by the paper's rules, and
    again by the product's model."""
    found: dict[str, float] = {}
    for rules, label in ((inputs.rules, ""), (None, PRODUCT)):
        for system, replica in _systems(inputs, rules).items():
            for request in inputs.requests:
                served = serve_users(inputs, rules, replica, request, (inputs.batch_limit,))
                name = f"{system}, {request[0]} in {request[1]} out{label}"
                found[f"largest batch of {name}"] = float(served.batch[0])
                found[f"output tokens per second of {name}"] = float(served.output_tokens_per_s[0])
                found[f"MFU of {name}"] = float(served.mfu(job(inputs, rules, request), replica)[0])
    return found


def curves(inputs: Inputs) -> list[BatchCurve]:
    """One curve for each system and request, up to the largest batch that fits; by the paper's rules."""
    found = []
    for system, replica in _systems(inputs, inputs.rules).items():
        for request in inputs.requests:
            users = (*inputs.batches, inputs.batch_limit)
            served = serve_users(inputs, inputs.rules, replica, request, users)
            batch, first = np.unique(served.batch, return_index=True)
            found.append(BatchCurve(system, request, batch, served.output_tokens_per_s[first]))
    return found


def _systems(inputs: Inputs, rules: KernelRules | None) -> dict[str, ServingSystem]:
    return {"baseline": baseline(inputs, rules), "appliance": on_appliance(inputs, rules, 1.0, "evaluated")}
