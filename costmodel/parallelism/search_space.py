"""How wide to search where a user names a model alone: every choice left open that could pay."""

from costmodel.hardware.device import Device
from costmodel.hardware.offload import offload_name
from costmodel.parallelism.degrees import divisors
from costmodel.parallelism.mappings import OFFLOAD, SCHEDULES, Schedule
from costmodel.workloads import TransformerInference, TransformerTraining, Workload
from costmodel.workloads.transformer.training_spec import schedules_of

MICRO_BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 32)


def opened(workload: Workload, device: Device) -> Workload:
    """The workload with every choice open: micro-batch, interleaving, schedule, recomputation, ZeRO, experts, offload.

    Context and expert ranks are those of any workload that leaves them open. Offload is listed where the device has a
    second memory tier, and selective recomputation where attention is not fused (fused attention always redoes its
    core). Other workloads leave open anyway what they can.
    """
    if isinstance(workload, TransformerTraining):
        return _opened_training(workload, device)
    if isinstance(workload, TransformerInference):
        return workload.model_copy(update={"expert": None})
    return workload


def _opened_training(workload: TransformerTraining, device: Device) -> TransformerTraining:
    is_fused = workload.attention == "fused"
    offload = [offload_name(code) for code in range(1 << len(OFFLOAD))] if device.offload else ["none"]
    return workload.model_copy(
        update={
            "micro_batch": MICRO_BATCHES,
            "interleave": tuple(divisors(workload.shape.layers)),
            "recompute": ("none", "full") if is_fused else ("none", "selective", "full"),
            "zero": (1, 2, 3),
            "sequence_parallel": (True, False),
            "context": None,
            "expert": None,
            "offload": tuple(offload),
            "uneven_stages": True,
            "schedule": workload.schedule or _schedules(workload),
        }
    )


def _schedules(workload: TransformerTraining) -> tuple[Schedule, ...]:
    """Those of the framework where one is named, else all that could pay: DualPipe hides what experts send."""
    known = schedules_of(workload.framework) if workload.framework else SCHEDULES
    return tuple(each for each in known if each != "dual_pipe" or not workload.shape.is_dense)
