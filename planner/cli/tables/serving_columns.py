"""What users of a serving job see, beside the time of its steps: columns of tables, and fields of records."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from planner.cli.output import quantity

if TYPE_CHECKING:
    from costmodel.hardware.device import Device
    from costmodel.pricing.score import Scores
    from costmodel.workloads import Workload


def serving_record(scores: "Scores", row: int) -> dict[str, Any]:
    """Users, times to the first and between tokens, and tokens per second; {} of a workload without users."""
    ttft_s, tpot_s = float(scores.ttft_s[row]), float(scores.tpot_s[row])
    if ttft_s != ttft_s:
        return {}
    users = int(scores.work[row])
    return {"users": users, "ttft_s": ttft_s, "tpot_s": tpot_s, "speed": float(scores.speed[row])}


def serving_columns(records: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """By name; {} where nobody is served."""
    if not all("ttft_s" in record for record in records):
        return {}
    return {
        "users": [f"{record['users']:,}" for record in records],
        "TTFT": [quantity(record["ttft_s"], "s") for record in records],
        "TPOT": [quantity(record["tpot_s"], "s") for record in records],
    }


def how_served(workload: "Workload", device: "Device") -> str:
    """Which software serves, and what its numbers rest on; "" of a workload without users."""
    from costmodel.serving.backends import GENERIC, serving_curve
    from costmodel.workloads import TransformerInference
    from costmodel.workloads.transformer.shapes import model_name

    if not isinstance(workload, TransformerInference):
        return ""
    if workload.kernel_rules is not None:
        return f"{workload.batching} batching, kernels by the rules that the workload states"
    _, is_fitted = serving_curve(device, workload.backend, model_name(workload.shape))
    told = "fitted for this model" if is_fitted else "not fitted for this model"
    software = "a generic backend" if workload.backend == GENERIC else f"{workload.backend}, {told}"
    return f"{workload.batching} batching of {software}"
