"""What share of its peaks a device reaches in a regime: fitted where there are measurements, else the part's own."""

from typing import Literal

from pydantic import Field

from costmodel.hardware.device import Device, Precision
from costmodel.pricing.calibration import Calibration, numbers_of
from costmodel.spec import BytesPerSecond, Latency, Seconds, Spec

Regime = Literal["training", "inference"]
TRAINING_LAUNCH_S = 34e-6
"""of an operator in training, of the small kernels around it and the framework: fits on A100 and B200 steps, made
apart, give 36 and 33 us"""
TRAINING_ATTENTION = 0.78
"""share that fused attention reaches, forward and backward, of what matrix products do (fit on B200 steps)"""


class Efficiency(Spec):
    """Shares of the peaks, and the time that no operator uses."""

    matrix: float = Field(gt=0, le=1)
    """share of the matrix peak that matrix products reach"""
    attention: float = Field(gt=0, le=1)
    """share of the matrix peak that the core of attention reaches"""
    memory: float = Field(gt=0, le=1)
    """share of the memory peak"""
    launch_s: Latency
    """of each operator: launch, and the gap before the next one"""
    step_s: Seconds = 0.0
    """of each step, whatever it does"""
    link_bytes_per_s: BytesPerSecond | None = Field(default=None, alias="link_bandwidth")
    """that collectives between the devices of a server reach, in one direction; absent where not fitted"""


def efficiency_of(
    device: Device, regime: Regime, precision: Precision, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[Efficiency, bool]:
    """Efficiencies of a device in a regime, and whether they were fitted on this very device and precision.

    fp16 runs like bf16, and a precision that was not fitted takes the shares and links of bf16. Where nothing was
    fitted, the part's own shares hold for all operators.
    """
    variant = "bf16" if precision == "fp16" else precision
    numbers, is_fitted = numbers_of(device, regime, variant, calibrations)
    if numbers is None:
        numbers, is_fitted = numbers_of(device, regime, "bf16", calibrations)[0], False
    if numbers is not None:
        return Efficiency.model_validate(numbers), is_fitted
    matrix, memory = device.matrix_efficiency, device.memory_efficiency
    if regime == "inference":
        return Efficiency(matrix=matrix, attention=matrix, memory=memory, launch_s=device.launch_s), False
    attention = matrix * TRAINING_ATTENTION
    return Efficiency(matrix=matrix, attention=attention, memory=memory, launch_s=TRAINING_LAUNCH_S), False
