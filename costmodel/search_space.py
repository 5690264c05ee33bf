"""How wide to search where a user names a model alone: every choice left open that could pay."""

from costmodel.hardware import Device
from costmodel.mappings import OFFLOAD
from costmodel.offload import offload_name
from costmodel.parallelism import divisors
from costmodel.workloads import Dlrm, TransformerInference, TransformerTraining, Workload

MICRO_BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 32)
CONTEXT = (1, 2, 4, 8, 16)
CONTEXT_TOKENS = 8192
"""sequences at least as long may be divided among ranks"""


def opened(workload: Workload, device: Device) -> Workload:
    """The workload with every choice open: micro-batch, interleaving, recomputation, ZeRO, experts, offload.

    Context ranks are listed for long sequences, offload where the device has a second memory tier, and selective
    recomputation where attention is not fused (fused attention always redoes its core). Recommendation models leave
    their degrees open anyway.
    """
    if isinstance(workload, Dlrm):
        return workload
    experts = tuple(divisors(workload.shape.experts))
    if isinstance(workload, TransformerInference):
        return workload.model_copy(update={"expert": experts})
    return _opened_training(workload, device, experts)


def _opened_training(workload: TransformerTraining, device: Device, experts: tuple[int, ...]) -> TransformerTraining:
    is_fused = workload.attention == "fused"
    offload = [offload_name(code) for code in range(1 << len(OFFLOAD))] if device.offload else ["none"]
    return workload.model_copy(
        update={
            "micro_batch": MICRO_BATCHES,
            "interleave": tuple(divisors(workload.shape.layers)),
            "recompute": ("none", "full") if is_fused else ("none", "selective", "full"),
            "zero": (1, 2, 3),
            "sequence_parallel": (True, False),
            "context": CONTEXT if workload.sequence >= CONTEXT_TOKENS else (1,),
            "expert": experts,
            "offload": tuple(offload),
            "uneven_stages": True,
        }
    )
