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


def how_served(workload: "Workload", device: "Device", in_rounds: Sequence[bool] = ()) -> str:
    """Which software serves, and what its numbers rest on; "" of a workload without users.

    `in_rounds`: of the rows shown, whether one has a setting of its own in the first phase, and so goes in rounds.
    """
    from costmodel.serving.backends import GENERIC, serving_curve
    from costmodel.workloads import TransformerInference
    from costmodel.workloads.transformer.shapes import model_name

    if not isinstance(workload, TransformerInference):
        return ""
    if workload.kernel_rules is not None:
        return f"{_batching(workload.batching, in_rounds)}, kernels by the rules that the workload states"
    _, is_fitted = serving_curve(device, workload.backend, model_name(workload.shape))
    told = "fitted for this model" if is_fitted else "not fitted for this model"
    software = "a generic backend" if workload.backend == GENERIC else f"{workload.backend}, {told}"
    return f"{_batching(workload.batching, in_rounds)} of {software}"


def _batching(asked: str, in_rounds: Sequence[bool]) -> str:
    """In words, as the rows shown do it: a job that changes between phases takes static batches, whatever is asked."""
    if all(in_rounds) and in_rounds:
        return "static batching (rounds, as all settings below differ between phases)"
    rounds = " (static, in rounds, where a setting of its own is shown below)"
    return f"{asked} batching{rounds if any(in_rounds) and asked != 'static' else ''}"
