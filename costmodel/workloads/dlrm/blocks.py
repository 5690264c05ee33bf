"""What a step of a recommendation model executes and sends: lookups, dense networks, and their gradients."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION
from costmodel.parallelism.mappings import Floats, Ints, Mappings, share_in_tier
from costmodel.pricing.opgraph import Block, Message, Operator, Shapes
from costmodel.workloads.dlrm.spec import DlrmSpec
from costmodel.workloads.transformer.layers import matrix_product, repeated

ROW_STATE_BYTES = 4.0
"""of row-wise Adagrad: one sum in fp32 for each row"""
DENSE_STATE_BYTES = 12.0
"""of a weight of the dense networks, beside the one that products use: itself, gradient and Adagrad's sum in fp32"""
DENSE_UPDATE_BYTES = 20.0
"""traffic of its update: weight and sum read and written, gradient read"""
GRADIENT_BYTES = 4.0
"""of a weight, exchanged in fp32"""


@dataclass(frozen=True)
class RankShare:
    """What falls to one rank; columns of shape (K,)."""

    shapes: Shapes
    tensor: Floats
    data: Floats
    replica_samples: Floats
    """samples whose lookups it pools"""
    samples: Floats
    """samples that it runs the dense networks for"""
    away: Floats
    """share of its rows that is in a second tier"""

    @classmethod
    def of(cls, batch: int, mappings: Mappings, memories: Ints | None = None) -> Self:
        """By distinct degrees, and by memories where mappings have their own, by number."""
        keys = {"tensor": mappings.tensor, "data": mappings.data, "offload": mappings.offload}
        shapes = Shapes.distinct(keys if memories is None else {**keys, "memory": memories})
        tensor, data = shapes.columns["tensor"], shapes.columns["data"]
        away = share_in_tier(shapes.columns["offload"].astype(np.int64), "tables")
        return cls(shapes, tensor, data, batch / data, batch / (data * tensor), away)

    def halves(self, degree: Floats, count: float = 1.0) -> Floats:
        """So many halves of an all-reduce (reduce-scatters, all-gathers), where there are several ranks."""
        return np.where(degree > 1, 0.5 * count, 0.0)


def dlrm_blocks(job: DlrmSpec, share: RankShare) -> tuple[Block, ...]:
    """All blocks of one step."""
    lookups, exchange = _lookups(job, share)
    dense = _dense(job, share)
    blocks = [
        share.shapes.block("lookups", lookups, [exchange], 1.0),
        share.shapes.block("dense forward", dense, [], 1.0),
    ]
    if job.mode == "training":
        rows, gathers = _row_updates(job, share)
        update, reduces = _dense_update(job, share)
        blocks += [
            share.shapes.block("dense backward", repeated(dense, 2.0), [], 1.0),
            share.shapes.block("row updates", rows, gathers, 1.0),
            share.shapes.block("optimizer", [update], reduces, 1.0),
        ]
    return tuple(blocks)


def _lookups(job: DlrmSpec, share: RankShare) -> tuple[list[Operator], Message]:
    """Rows and their numbers are read, pooled rows written, and read again where they are exchanged."""
    shape = job.shape
    rows = shape.lookups * share.replica_samples / share.tensor
    pooled_bytes = job.pooled_bytes * share.replica_samples
    accesses = np.where(share.tensor > 1, 2.0, 1.0)
    return [
        _gather("gather", rows * (job.row_bytes + shape.index_bytes), shape.gather_efficiency),
        Operator("pooled rows", "elementwise", 0.0, accesses * pooled_bytes),
    ], Message("pooled rows", "tensor", pooled_bytes, share.halves(share.tensor))


def _gather(name: str, memory_bytes: Floats, efficiency: float) -> Operator:
    return Operator(name, "elementwise", 0.0, memory_bytes, memory_efficiency=efficiency)


def _dense(job: DlrmSpec, share: RankShare) -> list[Operator]:
    """Layers with their activations fused, and the interaction, forward."""
    shape, size = job.shape, BYTES_OF_PRECISION[job.precision]

    def layer(name: str, sizes: tuple[int, int]) -> Operator:
        return matrix_product(
            name, share.samples, (float(sizes[0]), float(sizes[1])), weight_bytes=size, activation_bytes=size
        )

    bottom = [layer("bottom layer", sizes) for sizes in shape.bottom_layers]
    top = [layer("top layer", sizes) for sizes in shape.top_layers]
    width = shape.vectors * shape.dimension
    if shape.interaction == "dot":
        moved = size * share.samples * (width + shape.top_inputs)
        products = 2.0 * shape.vectors * width * share.samples
        return [*bottom, Operator("dot interaction", "matrix", products, moved), *top]
    cross = [layer("cross layer", sizes) for sizes in shape.cross_matrices]
    sums = Operator("cross sum", "elementwise", 0.0, 4 * size * share.samples * width, float(shape.cross_layers))
    return [*bottom, *cross, sums, *top]


def _row_updates(job: DlrmSpec, share: RankShare) -> tuple[list[Operator], list[Message]]:
    """Gradients of the pooled rows of all samples reach every rank, and lookups of its rows their copies in other
    replicas; each looked-up row and its state are read and written, also where several samples share a row."""
    shape, samples = job.shape, job.batch
    lookups = shape.lookups * samples / share.tensor
    row_bytes = 2 * (job.row_bytes + ROW_STATE_BYTES) + shape.index_bytes
    return [
        Operator("pooled gradients", "elementwise", 0.0, job.pooled_bytes * samples),
        _gather("row updates", lookups * row_bytes, shape.gather_efficiency),
    ], [
        Message("pooled gradients", "tensor", job.pooled_bytes * share.replica_samples, share.halves(share.tensor)),
        Message("pooled gradients", "data", job.pooled_bytes * samples, share.halves(share.data)),
        Message("looked-up numbers", "data", shape.index_bytes * lookups, share.halves(share.data)),
    ]


def _dense_update(job: DlrmSpec, share: RankShare) -> tuple[Operator, list[Message]]:
    """Reduce-scatter over the ranks of a replica, all-reduce of the shares over replicas, all-gather."""
    parameters = job.shape.dense_parameters
    copy_bytes = BYTES_OF_PRECISION[job.precision]
    gradients = GRADIENT_BYTES * parameters
    return Operator("optimizer", "elementwise", 0.0, (DENSE_UPDATE_BYTES + copy_bytes) * parameters), [
        Message("gradients", "tensor", gradients, share.halves(share.tensor, 2)),
        Message("gradients", "data", gradients / share.tensor, share.halves(share.data, 2)),
    ]
