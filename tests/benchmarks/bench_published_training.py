"""Training steps of published tables beside ours: `python -m tests.benchmarks.bench_published_training`.

None of these was used in a fit. Sources:
- bridge: NVIDIA Megatron-Bridge, docs/performance-summary.md, 25.11 container: tokens per second and GPU. Experts get
  equal shares there. What it recomputes is not in the table; here nothing is.
- deepseek: DeepSeek-V3 technical report (arXiv:2412.19437), sections 3.1, 3.2 and table 1: 2.664 million H800 hours for
  14.8e12 tokens with a pipeline of 16 and 64 expert ranks; batches of 15,360 sequences of 4,096 tokens.

Memory is not asked for: what was published did fit.
"""

from typing import NamedTuple

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import Precision, load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.pricing.search import search
from costmodel.workloads import TransformerTraining


class Row(NamedTuple):
    """One published step."""

    source: str
    model: str
    device: str
    devices: int
    precision: Precision
    batch: int
    micro_batch: int
    sequence: int
    tensor: int
    pipeline: int
    context: int
    interleave: int
    expert: int
    tokens_per_s: float
    """of one accelerator"""


ROWS = (
    Row("bridge", "llama-3.1-8b", "h100", 8, "fp8", 128, 1, 8192, 1, 1, 1, 1, 1, 14451),
    Row("bridge", "llama-3.1-70b", "h100", 64, "fp8", 128, 1, 8192, 4, 8, 1, 5, 1, 1602),
    Row("bridge", "llama-3.1-405b", "h100", 1024, "fp8", 512, 1, 8192, 8, 8, 2, 8, 1, 292),
    Row("bridge", "qwen3-30b-a3b", "h100", 16, "fp8", 512, 2, 4096, 1, 2, 1, 24, 8, 5275),
    Row("bridge", "llama-3.1-8b", "b200", 8, "fp8", 128, 2, 8192, 1, 1, 1, 1, 1, 30624),
    Row("bridge", "llama-3.1-405b", "b200", 128, "fp8", 64, 1, 8192, 4, 8, 2, 8, 1, 661),
    Row("bridge", "deepseek-v3", "b200", 256, "fp8", 2048, 1, 4096, 1, 16, 1, 1, 8, 2139),
    Row("bridge", "qwen3-30b-a3b", "b200", 8, "fp8", 512, 1, 4096, 1, 1, 1, 1, 8, 9299),
    Row("bridge", "qwen3-235b-a22b", "b200", 64, "fp8", 1024, 1, 4096, 1, 8, 1, 2, 8, 3269),
    Row("bridge", "llama-3.1-8b", "gb200", 8, "fp8", 128, 2, 8192, 1, 1, 1, 1, 1, 31508),
    Row("bridge", "llama-3.1-405b", "gb200", 256, "fp8", 1536, 1, 8192, 4, 16, 1, 4, 1, 813),
    Row("bridge", "deepseek-v3", "gb200", 256, "bf16", 4096, 1, 4096, 1, 4, 1, 4, 64, 3139),
    Row("bridge", "deepseek-v3", "gb200", 256, "fp8", 4096, 1, 4096, 1, 8, 1, 4, 32, 4018),
    Row("bridge", "qwen3-235b-a22b", "gb200", 256, "bf16", 8192, 1, 4096, 1, 8, 1, 3, 32, 4916),
    Row("bridge", "llama-3.1-8b", "gb300", 8, "fp8", 128, 2, 8192, 1, 1, 1, 1, 1, 37556),
    Row("bridge", "deepseek-v3", "gb300", 256, "bf16", 4096, 1, 4096, 1, 2, 1, 4, 32, 3848),
    Row("bridge", "qwen3-235b-a22b", "gb300", 256, "bf16", 8192, 2, 4096, 1, 4, 1, 12, 16, 6131),
    Row("deepseek", "deepseek-v3", "h800", 2048, "fp8", 15360, 1, 4096, 1, 16, 1, 1, 64, 14.8e12 / (2.664e6 * 3600)),
)


def tokens_per_s(row: Row, order: str) -> float:
    """Of one accelerator, with ranks in an order."""
    workload = TransformerTraining.model_validate(
        {
            "model": row.model, "global_batch": row.batch, "sequence": row.sequence, "precision": row.precision,
            "micro_batch": row.micro_batch, "interleave": row.interleave, "context": row.context,
            "expert": row.expert, "rank_order": order, "partial_rounds": True,
        }
    )  # fmt: skip
    device = load_device(row.device)
    fabric = fat_tree_of(system_of(row.device), row.devices)
    roomy = device.model_copy(update={"capacity_bytes": 1e15})
    pinned = {"tensor": row.tensor, "pipeline": row.pipeline}
    best = search(workload, [row.devices], roomy, fabric, top=1, pinned=pinned).best[0]
    return float(best.scores.speed[0]) / row.devices


def main() -> None:
    """A line a row: the published figure, and ours over it under each order of the ranks."""
    for row in ROWS:
        ours = (f"{order} {tokens_per_s(row, order) / row.tokens_per_s:6.2f}" for order in RANK_ORDERS)
        what = f"{row.source:8} {row.model:16} {row.devices:5} x {row.device:5} {row.precision:4}"
        print(f"{what} {row.tokens_per_s:7.0f} tokens/s each; ours over it: {', '.join(ours)}")


if __name__ == "__main__":
    main()
