"""A training step priced in plain Python, one mapping at a time: what the vectorized search is measured against.

Closed forms as in `costmodel.workloads`, for dense transformers in bf16 without context ranks and offload, on one
fat tree. It stops where a mapping does not fit, and takes the faster collective of each group, as a search must.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from costmodel.fabrics import FatTree
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import RECOMPUTE
from costmodel.pricing.efficiency import TRAINING_LINK, Efficiency
from costmodel.pricing.products import products_of
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.blocks import (
    BUCKET_PARAMETERS,
    BUCKET_PARAMETERS_PER_RANK,
    GRADIENT_ACCESSES,
    GRADIENT_BYTES,
    OPTIMIZER_BYTES,
    SHOWN_HAND_OVER,
    SPILLED_ACCESSES,
)
from costmodel.workloads.transformer.memory import LOGIT_BYTES, RUNTIME_BYTES
from costmodel.workloads.transformer.training import PREFETCHED

ELEMENT, STATE = 2.0, 12.0
"""bytes of a parameter or activation, and of the state of its optimizer"""


@dataclass(frozen=True)
class Naive:
    """All that does not change between mappings."""

    job: TransformerTraining
    device: Device
    efficiency: Efficiency
    fabric: FatTree

    def step_s(self, choice: dict[str, int]) -> float | None:
        """Seconds of a step of one mapping; None where it does not fit."""
        row = _Row.of(self.job, choice)
        if row.footprint_bytes(self.job) > self.device.capacity_bytes:
            return None
        whole = self.fabric.gpus_per_server
        is_near = row.devices <= whole
        layers_s = row.micro_batches * row.layers * sum(map(self._pass_s, self._layer(row)))
        near = row.tensor <= self.fabric.gpus_per_server
        hidden_bytes = ELEMENT * row.tokens * self.job.shape.hidden
        reduces = (5 if row.sequence_parallel else 4) + (2 if row.recompute == "full" else 0)
        in_halves = self.job.sends_halves("tensor")
        vocabulary_s, embedding_s, optimizer_s = self._ends(row)
        last_s = vocabulary_s + embedding_s
        tensor_s = self._all_reduce_s(hidden_bytes, row.tensor, near, in_halves=in_halves)
        data_s, data_share = self._data_s(row, is_near), self._data_share(row)
        tensor_share = self.job.overlap["tensor"] if row.sequence_parallel else 0.0
        wanted_s = tensor_share * row.micro_batches * (row.layers * reduces + 1) * tensor_s + data_share * data_s
        room = min(1.0, (layers_s + last_s + optimizer_s) / wanted_s) if wanted_s else 0.0
        tensor_s, data_s = (1 - room * tensor_share) * tensor_s, (1 - room * data_share) * data_s
        sent_s = row.micro_batches * row.layers * reduces * tensor_s
        if row.pipeline > 1:
            stages = row.tensor * row.pipeline
            alpha_s, rate = self._link(is_near or (self._is_whole_servers(row) and whole % stages == 0))
            shown = SHOWN_HAND_OVER if row.interleave > 1 else 1.0
            rate = min(rate, self._reached(self.fabric.nvlink_bandwidth_bytes_per_s))
            hands = 2 * row.micro_batches * row.interleave * shown
            sent_s += hands * (alpha_s + hidden_bytes / row.tensor / rate)
        repeated_s = layers_s + sent_s
        step_s = repeated_s * (1 + row.bubble) + last_s + optimizer_s - min(row.relief * repeated_s, last_s)
        return step_s + row.micro_batches * tensor_s + data_s + self.efficiency.step_s

    def _pass_s(self, kernels: list[float]) -> float:
        """Kernels one after the other; the host starts them ahead."""
        return max(sum(kernels), len(kernels) * self.efficiency.launch_s)

    def _layer(self, row: "_Row") -> Iterator[list[float]]:
        """Kernels of a layer by pass: forward, backward, and what is redone."""
        shape, t, tokens = self.job.shape, row.tensor, row.tokens
        hidden, wide = shape.hidden, shape.query_dim + 2 * max(shape.kv_heads, t) * shape.head_dim
        normed = row.tokens / t if row.sequence_parallel else row.tokens
        up = (2 if shape.gated else 1) * shape.ffn
        matrices = ((hidden, wide / t), (shape.query_dim / t, hidden), (hidden, up / t), (shape.ffn / t, hidden))
        others = [self._kernel_s(0.0, 5 * ELEMENT * normed * hidden)] * 2
        others.append(self._kernel_s(0.0, shape.ffn_matrices * ELEMENT * tokens * shape.ffn / t))
        is_fused = self.job.attention == "fused"
        product = 2 * row.scores * shape.head_dim * (0.5 if is_fused and shape.causal else 1.0)
        kept = ELEMENT * tokens * (shape.query_dim + wide) / t
        spilled = 0.0 if is_fused else SPILLED_ACCESSES * ELEMENT * row.scores
        core_s = self._kernel_s(2 * product, kept + spilled, self.efficiency.attention)
        forward = [*(self._product_s(tokens, outer, inner) for inner, outer in matrices), *others, core_s]
        yield forward
        if row.recompute == "full":
            yield forward
        if row.recompute == "selective" and not is_fused:
            yield [core_s]
        backward = self._kernel_s((5 if is_fused else 4) * product, 2 * kept + 1.5 * spilled, self.efficiency.attention)
        accumulation = self._kernel_s(0.0, GRADIENT_ACCESSES * GRADIENT_BYTES * row.layer_parameters)
        for_inputs = [self._product_s(tokens, inner, outer) for inner, outer in matrices]
        for_weights = [self._product_s(inner, outer, tokens) for inner, outer in matrices]
        yield [*for_inputs, *for_weights, *others, *others, backward, accumulation]

    def _ends(self, row: "_Row") -> tuple[float, float, float]:
        """Vocabulary, embedding and optimizer."""
        shape, tokens = self.job.shape, row.tokens
        inner, outer = float(shape.hidden), shape.vocabulary / row.tensor
        sizes = ((tokens, outer, inner), (tokens, inner, outer), (inner, outer, tokens))
        entropy_s = self._kernel_s(0.0, 16 * tokens * outer)
        vocabulary_s = self._pass_s([*(self._product_s(*each) for each in sizes), entropy_s])
        embedding_s = self._pass_s([self._kernel_s(0.0, 4 * ELEMENT * tokens * shape.hidden)])
        owned = row.parameters / row.data if row.zero else row.parameters
        local = owned if row.zero == 3 else row.parameters
        updated_s = self._kernel_s(0.0, OPTIMIZER_BYTES * owned + GRADIENT_ACCESSES * GRADIENT_BYTES * local)
        embeds = row.micro_batches if row.pipeline == 1 else 0
        return row.micro_batches * vocabulary_s, embeds * embedding_s, self._pass_s([updated_s])

    def _data_share(self, row: "_Row") -> float:
        """Of the data ranks' messages that hides."""
        hidden = PREFETCHED * (1 - self.device.collective_sm / self.device.num_sm)
        return max(self.job.overlap["data"], hidden) if row.zero == 3 else self.job.overlap["data"]

    def _data_s(self, row: "_Row", is_near: bool) -> float:
        """Gradients to their owners and parameters back."""
        if row.data == 1:
            return 0.0
        gradients = (row.micro_batches if row.zero >= 2 else 1) * (0.5 if row.zero else 1.0)
        passes = row.micro_batches * (3 if row.recompute == "full" else 2)
        gathers = 0.5 * (passes if row.zero == 3 else 1) if row.zero else 0.0
        sent = (gradients * GRADIENT_BYTES + gathers * ELEMENT) * row.parameters
        stages, together = row.tensor * row.pipeline, 1
        if self._is_whole_servers(row) and self.fabric.gpus_per_server % stages == 0:
            together = self.fabric.gpus_per_server // stages
            together = together if row.data % together == 0 else 1
        buckets = max(row.parameters / max(BUCKET_PARAMETERS, BUCKET_PARAMETERS_PER_RANK * row.data), 1.0)
        return self._all_reduce_s(
            sent, row.data, is_near, buckets * (gradients + gathers), together, self.job.sends_halves("data")
        )

    def _is_whole_servers(self, row: "_Row") -> bool:
        """Whether ranks fill whole servers, tensor groups untorn."""
        return row.devices % self.fabric.gpus_per_server == 0 and self.fabric.gpus_per_server % row.tensor == 0

    def _kernel_s(self, flops: float, moved_bytes: float, share: float | None = None) -> float:
        reached = (share or self.efficiency.matrix) * self.device.flops_per_s[self.job.precision]
        memory_s = moved_bytes / (self.efficiency.memory * self.device.memory_bytes_per_s)
        return max(flops / reached, memory_s)

    def _product_s(self, m: float, n: float, k: float) -> float:
        products = products_of(self.device, self.job.precision, self.efficiency.matrix, None)
        return float(products.seconds(m, n, k))

    def _all_reduce_s(
        self,
        message_bytes: float,
        ranks: int,
        is_near: bool,
        count: float = 1.0,
        together: int = 1,
        in_halves: bool = False,
    ) -> float:
        """The faster of ring and double tree, which only reduces all; `message_bytes` are those of all `count`."""
        if ranks == 1:
            return 0.0
        alpha_s, rate = self._link(is_near)
        most = self.fabric.nvlink_bandwidth_bytes_per_s
        rate = self._reached(most) if is_near else min(rate * together, self._reached(most))
        ring_s = 2 * (ranks - 1) * (count * alpha_s + message_bytes / ranks / rate)
        tree_s = 2 * (count * math.ceil(math.log2(ranks)) * alpha_s + message_bytes / rate)
        return ring_s if in_halves else min(ring_s, tree_s)

    def _reached(self, peak: float) -> float:
        return min(self.efficiency.link_bytes_per_s or TRAINING_LINK * peak, peak)

    def _link(self, is_near: bool) -> tuple[float, float]:
        fabric = self.fabric
        if is_near:
            return fabric.nvlink_alpha_s, fabric.nvlink_bandwidth_bytes_per_s
        return fabric.network_alpha_s, fabric.network_bandwidth_bytes_per_s


@dataclass(frozen=True)
class _Row:
    """One mapping and what follows from it."""

    tensor: int
    pipeline: int
    data: int
    devices: int
    interleave: int
    recompute: str
    zero: int
    sequence_parallel: bool
    micro_batches: float
    tokens: float
    scores: float
    layers: int
    relief: float
    layer_parameters: float
    parameters: float
    kept_bytes: float
    """activations of one layer and micro-batch"""
    working_bytes: float

    @classmethod
    def of(cls, job: TransformerTraining, choice: dict[str, int]) -> "_Row":
        shape, t, p = job.shape, choice["tensor"], choice["pipeline"]
        chunk = shape.layers / (p * choice["interleave"])
        layers = math.ceil(shape.layers / p)
        last = shape.layers - (p - 1) * layers
        tokens = float(choice["micro_batch"] * job.sequence)
        keys = max(shape.kv_heads / t, 1.0) * shape.head_dim
        query, matrices = shape.query_dim / t, shape.ffn_matrices
        parameters = shape.hidden * (2 * query + 2 * keys + matrices * shape.ffn / t + 2)
        vocabulary = shape.vocabulary_parameters if p == 1 else shape.vocabulary * shape.hidden
        scores = tokens * job.sequence * shape.heads / t
        recompute, is_split = RECOMPUTE[choice["recompute"]], bool(choice["sequence_parallel"])
        normed = tokens / t if is_split else tokens
        kept = ELEMENT * (4 * shape.hidden * normed + tokens * (2 * query + 2 * keys + matrices * shape.ffn / t))
        spilled = 0.0 if job.attention == "fused" else (2 * ELEMENT + 1) * scores
        inputs = ELEMENT * normed * shape.hidden
        return cls(
            tensor=t, pipeline=p, data=choice["data"], devices=t * p * choice["data"],
            interleave=choice["interleave"], recompute=recompute, zero=choice["zero"], sequence_parallel=is_split,
            micro_batches=job.global_batch / (choice["data"] * choice["micro_batch"]), tokens=tokens, scores=scores,
            layers=layers, relief=1 - max(math.floor(chunk) * choice["interleave"], last) / layers,
            layer_parameters=parameters, parameters=layers * parameters + vocabulary / t,
            kept_bytes={"none": kept + spilled, "selective": kept, "full": inputs}[recompute],
            working_bytes={"none": 0.0, "selective": spilled, "full": kept + spilled}[recompute],
        )  # fmt: skip

    @property
    def bubble(self) -> float:
        in_rounds = math.ceil(self.micro_batches / self.pipeline) * self.pipeline
        last = self.micro_batches - in_rounds + self.pipeline
        return (in_rounds - self.micro_batches + (last - 1) / self.interleave) / self.micro_batches

    def footprint_bytes(self, job: TransformerTraining) -> float:
        shards = [self.data if self.zero >= stage else 1 for stage in (3, 2, 1)]
        sizes = (ELEMENT, GRADIENT_BYTES, STATE)
        fixed = self.parameters * sum(size / number for size, number in zip(sizes, shards, strict=True))
        chunks = self.pipeline * self.interleave + self.pipeline - 1 if self.interleave > 1 else self.pipeline
        in_flight = min(chunks, self.micro_batches * self.interleave) * self.layers / self.interleave
        logits = LOGIT_BYTES * self.tokens * job.shape.vocabulary / self.tensor
        first = in_flight * self.kept_bytes + (logits if self.pipeline == 1 else 0.0)
        last_chunks = min(self.pipeline * (self.interleave - 1) + 1, self.micro_batches * self.interleave)
        last = last_chunks * self.layers / self.interleave * self.kept_bytes + logits
        ends = job.shape.vocabulary_parameters if self.pipeline == 1 else job.shape.vocabulary * job.shape.hidden
        gradient = ELEMENT * ends / self.tensor + RUNTIME_BYTES
        return fixed + gradient + self.working_bytes + max(first, last)
