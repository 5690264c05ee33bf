"""How much single steps of a job differ, in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from costmodel.workloads import Workload


def steps_told(workload: "Workload", step_s: float) -> str:
    """The band of single steps of the first candidate, in training of transformers, which it was fitted on."""
    import numpy as np

    from costmodel.pricing.jitter import COVERAGE, step_band_s

    if workload.kind != "transformer_training":
        return ""
    early_s, late_s = (float(each[0]) for each in step_band_s(np.array([step_s])))
    band = f"of 100 steps of the first, 80 or more take {early_s:.4g} to {late_s:.4g} s"
    return f"{band} on {COVERAGE:.0%} of systems, by the jitter of measured steps"
