"""Recommendation models (DLRM), trained or served: tables divided by rows, small networks on every rank."""

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Device
from costmodel.hardware.memory.columns import Memories, peaks
from costmodel.parallelism.degrees import degree_table, divisors, every_mapping, joined
from costmodel.parallelism.mappings import CHOICES, Dimension, Floats, Mappings
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.opgraph import OpGraph
from costmodel.workloads.dlrm.blocks import DENSE_STATE_BYTES, ROW_STATE_BYTES, RankShare, dlrm_blocks
from costmodel.workloads.dlrm.spec import DlrmSpec

RUNTIME_BYTES = 0.325 * 2**30
"""memory of the runtime and its communication buffers (estimate)"""


class Dlrm(DlrmSpec):
    """One batch after the other, each over all ranks.

    The rows of every table are divided over the `tensor` ranks of a replica, `data` replicas have a copy each. A
    rank pools its share of each lookup for all samples of its replica; a reduce-scatter adds the shares, and
    leaves each rank with its part of the samples, for which it runs the bottom network, the interaction and the
    top one. Training is synchronous: replicas exchange the gradients of pooled rows and the looked-up numbers, and
    each updates all rows that it holds, by row-wise Adagrad; the networks' gradients are all-reduced over all ranks.

    Assumes that the input pipeline hands each rank the numbers of the rows that it holds, that lookups spread
    evenly over rows, and that the networks do not overlap with lookups.
    """

    @property
    def speed_unit(self) -> str:
        return "samples/s"

    @property
    def divided(self) -> str:
        """What degrees of parallelism must divide, for messages."""
        return f"its batch of {self.batch} samples"

    @property
    def flops_per_work(self) -> float:
        """Matrix operations that a sample needs: in training three times the forward pass."""
        return self.shape.forward_flops * (3 if self.mode == "training" else 1)

    def menus(self) -> dict[str, tuple[int, ...]]:
        """What may be in a second tier, beside the degrees."""
        return {"offload": self.offload_codes} if any(self.offload_codes) else {}

    def mappings(self, *sizes: int) -> Mappings:
        """Every `data` replicas of `tensor` ranks where all ranks get as many samples; micro_batch is samples of one
        replica."""
        most, shared = np.iinfo(CHOICES["tensor"][0]).max, (size for size in sizes if self.batch % size == 0)
        degrees = joined(degree_table([n], [t for t in divisors(n) if t <= most], (1,), 1) for n in shared)
        samples = self.batch // degrees["data"]
        return every_mapping(degrees | {"micro_batch": samples.astype(np.int32)}, self.menus())

    @property
    def tensor_leaves_servers(self) -> bool:
        """Whether a tensor group wider than a server is listed: tables need as many ranks as hold them."""
        return True

    @property
    def reads_at_random(self) -> bool:
        """Whether what is kept in memory is read here and there, instead of from end to end."""
        return True

    def sends_halves(self, dimension: Dimension) -> bool:
        """Whether ranks only reduce-scatter and all-gather along a dimension, which no tree does."""
        return dimension == "tensor"

    def sends(self, dimension: Dimension) -> bool:
        """Whether groups of several ranks along a dimension exchange anything: replicas do in training only."""
        return dimension == "tensor" or (dimension == "data" and self.mode == "training")

    def footprint(self, mappings: Mappings) -> tuple[Floats, Floats]:
        """Memory of one accelerator and what it keeps in a second tier, in bytes, shapes (M,)."""
        share = RankShare.of(self.batch, mappings)
        away_bytes = share.away * self._table_bytes(share)
        return self._footprint_bytes(share)[share.shapes.of], away_bytes[share.shapes.of]

    def op_graph(
        self, mappings: Mappings, device: Device, calibrations: Calibrations | None = None, memories: Memories = None
    ) -> OpGraph:
        """One batch on one rank; all do the same."""
        device.matrix_flops_per_s(self.precision)
        own = None if memories is None else memories[1]
        share, none = RankShare.of(self.batch, mappings, own), np.zeros(len(mappings))
        moved = (share.away * self._fetched_bytes(share) * (2 if self.mode == "training" else 1))[share.shapes.of]
        return OpGraph(
            blocks=dlrm_blocks(self, share),
            bubble=none,
            relief=none,
            footprint_bytes=self._footprint_bytes(share)[share.shapes.of],
            tier_footprint_bytes=(share.away * self._table_bytes(share))[share.shapes.of],
            tier_bytes=moved,
            tier_windows=((moved / (self.shape.gather_efficiency), none + 1.0),),
            work=np.full(len(mappings), float(self.batch)),
            precision=self.precision,
            regime=self.mode,
            memory_bytes_per_s=peaks(memories),
        )

    @property
    def _kept_row_bytes(self) -> float:
        """Of a row with its optimizer state."""
        return self.row_bytes + (ROW_STATE_BYTES if self.mode == "training" else 0.0)

    def _table_bytes(self, share: RankShare) -> Floats:
        """Of all rows of a rank, shape (K,)."""
        return self.shape.num_rows * self._kept_row_bytes / share.tensor

    def _fetched_bytes(self, share: RankShare) -> Floats:
        """Of the rows of a rank that a step looks up: in training those of all replicas, which it updates; (K,)."""
        samples = self.batch if self.mode == "training" else share.replica_samples
        return np.asarray(self.shape.lookups * samples / share.tensor * self._kept_row_bytes)

    def _footprint_bytes(self, share: RankShare) -> Floats:
        """Rows and weights with their optimizer state, lookups, pooled rows before and after the exchange, activations,
        and the runtime; shape (K,). Of rows in a second tier those that two steps look up: this one and the next.

        Training keeps the outputs of all layers, and the looked-up numbers and gradients of all replicas' samples;
        inference the widest layer's inputs and outputs.
        """
        shape, size, is_training = self.shape, BYTES_OF_PRECISION[self.precision], self.mode == "training"
        layers = [*shape.bottom_layers, *shape.cross_matrices, *shape.top_layers]
        weight = size + (DENSE_STATE_BYTES if is_training else 0.0)
        widths = shape.top_inputs + sum(outputs for _, outputs in layers) if is_training else max(map(sum, layers))
        samples = self.batch if is_training else share.replica_samples
        fetched = np.minimum(2 * self._fetched_bytes(share), self._table_bytes(share))
        tables = self._table_bytes(share) * (1 - share.away) + share.away * fetched
        lookups = shape.lookups * shape.index_bytes * samples / share.tensor
        pooled = self.pooled_bytes * (samples + share.samples)
        return (
            tables + lookups + pooled + shape.dense_parameters * weight + size * widths * share.samples + RUNTIME_BYTES
        )
