"""Static batches on one replica, priced as the candidates of any job: by the rules of a paper, or by fitted kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costmodel.fabrics import FabricBase, fat_tree_of
from costmodel.hardware.device import Device
from costmodel.hardware.systems import System
from costmodel.parallelism.mappings import Floats, Mappings
from costmodel.pricing.candidates import Candidates, list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.serving.kernel_rules import KernelRules
from costmodel.workloads import TransformerInference

PRODUCT = ", by the product's model"
"""ending of quantities that no rule of a paper touches"""
ROOMY_BYTES = 1e18
"""capacity of a memory that holds whatever is counted"""


@dataclass(frozen=True)
class ServingSystem:
    """One copy of a model: the devices that it runs on, and how it is divided over them."""

    device: Device
    fabric: FabricBase
    tensor: int = 1
    pipeline: int = 1

    @property
    def ranks(self) -> int:
        return self.tensor * self.pipeline


@dataclass(frozen=True)
class ServedBatches:
    """Static batches from start to end; columns of shape (B,)."""

    batch: Floats
    prefill_s: Floats
    """until the first token"""
    token_s: Floats
    """between two tokens"""
    input_tokens: int
    output_tokens: int

    @property
    def latency_s(self) -> Floats:
        return self.prefill_s + (self.output_tokens - 1) * self.token_s

    @property
    def output_tokens_per_s(self) -> Floats:
        return self.batch * self.output_tokens / self.latency_s

    def mfu(self, job: TransformerInference, replica: ServingSystem) -> Floats:
        """Share of the matrix peak of all ranks: 2 operations for each parameter and token."""
        flops = 2.0 * job.shape.num_parameters * self.batch * (self.input_tokens + self.output_tokens)
        peak = replica.ranks * replica.device.matrix_flops_per_s(job.precision)
        return np.asarray(flops / (self.latency_s * peak))


def job_of(request: tuple[int, int], rules: KernelRules | None, **fields: Any) -> TransformerInference:
    """The workload as an instance file states it; without rules, that of the product's model."""
    return TransformerInference(
        input_tokens=request[0], output_tokens=request[1], batching="static", kernel_rules=rules, **fields
    )


def servers(system: System, replica_of: int, **links: float | None) -> FabricBase:
    """A system's servers for so many ranks, with other links where they are given."""
    return fat_tree_of(system.model_copy(update={name: rate for name, rate in links.items() if rate}), replica_of)


def serve(job: TransformerInference, replica: ServingSystem, users: Sequence[int]) -> ServedBatches:
    """The fastest candidate for each number of users, or for as many of them as fit; ValueError where none does.

    Where ports are divided, all of them serve memory.
    """
    degrees = {"tensor": replica.tensor, "pipeline": replica.pipeline}
    asked = Mappings.of(**degrees, micro_batch=np.asarray(users))
    whole = replica.fabric.splits(replica.device, job)[-1].device
    if np.any(job.footprint(asked)[0] > whole.capacity_bytes):
        raise ValueError("model: no sequence fits beside the weights; give more stages, or fewer tokens")
    batch = job.running_requests(asked, whole)
    alone = Mappings.of(**degrees, micro_batch=batch.astype(np.int64))
    rows = list_candidates(job, alone, replica.device, replica.fabric, blocks=widest_block)
    rows = rows.take(np.flatnonzero(rows.split == len(rows.splits) - 1))
    prices = score(rows, replica.device, replica.fabric)
    latency_s = prices.ttft_s + (job.output_tokens - 1) * prices.tpot_s
    best = _first_of_each(rows, latency_s)
    return ServedBatches(batch, prices.ttft_s[best], prices.tpot_s[best], job.input_tokens, job.output_tokens)


def _first_of_each(rows: Candidates, time_s: Floats) -> np.ndarray:
    """Row of the least time of each mapping, in their order."""
    order = np.lexsort((time_s, rows.mapping))
    return np.asarray(order[np.unique(rows.mapping[order], return_index=True)[1]])
