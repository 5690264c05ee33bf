"""Throughput against the batch on a shared photonic memory and on a server; figure 8 of the paper."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from costmodel.serving.static import Engine, largest_batch, serve
from costmodel.workloads.transformer.shapes import shape_of
from planner.studies.reproduce.experiments import photonic_inference
from planner.studies.reproduce.experiments.photonic_inference import at_largest_batch, baseline, on_appliance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Inputs(photonic_inference.Inputs):
    """Systems and requests as there, and the batches to draw."""

    batches: tuple[int, ...] = Field(min_length=1)
    """those that fit are served, and the largest one beside them"""


@dataclass(frozen=True)
class BatchCurve:
    """Output tokens per second of one system and request against the batch."""

    system: str
    request: tuple[int, int]
    batch: Ints
    output_tokens_per_s: Floats


def compute(inputs: Inputs) -> dict[str, float]:
    """Largest batch, throughput and share of the matrix peak at it, by system and request."""
    found: dict[str, float] = {}
    tokens_in, tokens_out = np.array(inputs.requests).T
    for system, engine in _engines(inputs).items():
        batch = largest_batch(shape_of(inputs.model), engine, inputs.rules, tokens_in, tokens_out)
        served = at_largest_batch(inputs, engine)
        for row, request in enumerate(inputs.requests):
            name = f"{system}, {request[0]} in {request[1]} out"
            found[f"largest batch of {name}"] = float(batch[row])
            found[f"output tokens per second of {name}"] = float(served.output_tokens_per_s[row])
            found[f"MFU of {name}"] = float(served.mfu[row])
    return found


def curves(inputs: Inputs) -> list[BatchCurve]:
    """One curve for each system and request, up to the largest batch that fits."""
    shape, found = shape_of(inputs.model), []
    for system, engine in _engines(inputs).items():
        for request in inputs.requests:
            most = int(largest_batch(shape, engine, inputs.rules, *request)[()])
            batch = np.unique([*(each for each in inputs.batches if each <= most), most])
            served = serve(shape, engine, inputs.rules, batch, *request)
            found.append(BatchCurve(system, request, batch, served.output_tokens_per_s))
    return found


def _engines(inputs: Inputs) -> dict[str, Engine]:
    return {"baseline": baseline(inputs), "appliance": on_appliance(inputs, 1.0, "evaluated")}
