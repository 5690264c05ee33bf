"""Continuous batching beside the mappings of an inference: times to the first and between tokens, by backend."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from costmodel.hardware.device import Device
    from costmodel.parallelism.configuration import Configuration
    from costmodel.workloads import TransformerInference


@dataclass(frozen=True)
class ServingFigures:
    """Of one replica under its share of the users."""

    ttft_s: float
    tpot_s: float
    speed: float
    """tokens per second of all replicas"""
    is_calibrated: bool


def serving_figures(
    workload: "TransformerInference", device: "Device", configuration: "Configuration", backend: str
) -> ServingFigures | None:
    """Latency and throughput of a backend; None where the engine has no such mapping, or memory runs short."""
    from costmodel.serving.simulate import simulate

    if not workload.shape.is_dense or configuration.expert > 1:
        return None
    try:
        found = simulate(
            workload.model,
            device,
            backend=backend,
            precision=workload.precision,
            tensor=configuration.tensor,
            input_tokens=workload.input_tokens,
            output_tokens=workload.output_tokens,
            concurrency=configuration.micro_batch,
        )
    except ValueError:
        return None
    speed = float(found.throughput_tokens_per_s) * configuration.data
    return ServingFigures(float(found.ttft_s), float(found.tpot_s), speed, found.is_calibrated)
