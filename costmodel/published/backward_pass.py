"""When a data-parallel replica has which gradients: its forward pass, backward pass and update in time."""

from dataclasses import dataclass

import numpy as np

from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Floats, Mappings
from costmodel.pricing.calibration import Calibration
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.roofline import block_price
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.blocks import GRADIENT_BYTES

VOCABULARY_SHARE = 2 / 3
"""of the vocabulary projection: the backward pass has two of its three products"""
EMBEDDING_SHARE = 1 / 2
"""of the embedding: the gradient is read and written, as the rows were in the forward pass"""


@dataclass(frozen=True)
class BackwardPass:
    """One step of a replica; gradients grow linearly between the points, P of them."""

    before_s: float
    """forward pass"""
    after_s: float
    """update of the parameters, and what a step takes whatever it does"""
    time_s: Floats
    """(P,) since the backward pass began, ascending from 0"""
    ready_bytes: Floats
    """(P,) gradients that are complete by then, from 0 to all"""

    @property
    def backward_s(self) -> float:
        return float(self.time_s[-1])

    @property
    def compute_s(self) -> float:
        """A step without any communication."""
        return self.before_s + self.backward_s + self.after_s

    @property
    def gradient_bytes(self) -> float:
        return float(self.ready_bytes[-1])

    def ready_s(self, gradient_bytes: Floats) -> Floats:
        """When so many bytes of gradients are complete, since the backward pass began, shaped as they are."""
        return np.asarray(np.interp(gradient_bytes, self.ready_bytes, self.time_s))


def backward_pass(
    job: TransformerTraining, ranks: int, device: Device, *, calibrations: tuple[Calibration, ...] | None = None
) -> BackwardPass:
    """The step of one of `ranks` replicas, each with the whole model and one micro-batch.

    Gradients appear from the last layer to the first. The projection's own ones come first, or, where it
    is tied, with those of the embedding at the end. `calibrations` replaces the catalog's.
    """
    if job.global_batch % ranks:
        raise ValueError(f"global_batch: {job.global_batch} is no multiple of {ranks} ranks; give one that is")
    graph = job.op_graph(Mappings.of(data=ranks, micro_batch=job.global_batch // ranks, zero=0), device)
    efficiency, _ = efficiency_of(device, graph.regime, graph.precision, calibrations)
    spent_s = dict.fromkeys(("forward", "backward", "vocabulary", "embedding", "optimizer"), 0.0)
    for block in graph.blocks:
        price = block_price(block, graph, device, efficiency)
        time_s = (price.compute_s + price.memory_s)[block.shape] * block.times
        spent_s[block.name] = float(time_s[0])
    vocabulary_s, embedding_s = spent_s["vocabulary"], spent_s["embedding"]
    segments_s = [VOCABULARY_SHARE * vocabulary_s, spent_s["backward"], EMBEDDING_SHARE * embedding_s]
    first_s = (1 - VOCABULARY_SHARE) * vocabulary_s + (1 - EMBEDDING_SHARE) * embedding_s
    return BackwardPass(
        before_s=spent_s["forward"] + first_s,
        after_s=spent_s["optimizer"] + efficiency.step_s,
        time_s=np.cumsum([0.0, *segments_s]),
        ready_bytes=np.cumsum([0.0, *_gradients(job)]),
    )


def _gradients(job: TransformerTraining) -> tuple[float, float, float]:
    """Bytes of the gradients of the vocabulary projection, the layers and the embedding."""
    shape = job.shape
    embedding = shape.vocabulary * shape.hidden
    projection = shape.vocabulary_parameters - embedding
    layers = shape.num_parameters - shape.vocabulary_parameters
    return GRADIENT_BYTES * projection, GRADIENT_BYTES * layers, GRADIENT_BYTES * embedding
