"""What share of its peaks a device reaches in a regime: fitted where there are measurements, else the part's own."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from costmodel.hardware.device import Device, Precision, is_narrow, load_device
from costmodel.pricing.calibration import Calibration, Numbers, curve_source, numbers_of, origin_of
from costmodel.pricing.scaling import Scaling, by_link
from costmodel.spec import BytesPerSecond, Latency, Seconds, Spec

Regime = Literal["training", "inference"]
SCALINGS: Mapping[str, Scaling] = {"link_bandwidth": by_link, "link_bytes_per_s": by_link}
"""how numbers fitted on one device carry over to another"""
WHATEVER_THE_PRECISION = ("attention", "link_bandwidth", "link_bytes_per_s")
"""numbers that hold for all precisions of matrices: attention mostly stays in bf16"""
TRAINING_LAUNCH_S = 34e-6
"""that the host takes to start an operator in training and the small kernels around it: about 1 ms for both passes of a
layer (fits on A100 and B200 steps by a roofline, made apart, gave 36 and 33 us)"""
TRAINING_STEP_S = 17e-3
"""of a step whose kernels are not recorded, whatever it does: the norm of gradients, the start of the optimizer, what
the host does between steps (fit on steps of Megatron-LM on B200 with 4 to 32 micro-batches)"""
TRAINING_LINK = 0.7
"""share of the peak that collectives between the devices of a server reach in training, where none was fitted"""
WIDE_SHARE = 0.7
"""share of the matrix peak that products of 16 bits reach in training, over that of products of 8 bits beside whose
casts are priced (one number for the steps of H100 and B200 in both, 0.71 +- 0.03; alone they would have 0.66 and
0.73)"""
HALF_BALANCE = 1150.0
"""matrix peak over memory peak, FLOP/byte, at which products of training reach half of their peak where none was
fitted: the more a device computes for each byte it moves, the less of its peak it reaches (one number for the shares of
eleven devices, from 0.86 on A100 at 153 to 0.47 on TPU v6e at 1,121)"""
TRAINING_ATTENTION = 0.45
"""share of the peak that fused attention reaches, forward and backward, where none was fitted (0.38 to 0.48 were)"""


class Efficiency(Spec):
    """Shares of the peaks, and the time that no operator uses."""

    matrix: float = Field(gt=0, le=1)
    """share of the matrix peak that matrix products reach; in training inside the tiles of their kernels"""
    attention: float = Field(gt=0, le=1)
    """share of the matrix peak that the core of attention reaches"""
    memory: float = Field(gt=0, le=1)
    """share of the memory peak"""
    launch_s: Latency
    """of each operator: launch, and the gap before the next one; in training the host's, who runs ahead"""
    step_s: Seconds = 0.0
    """of each step, whatever it does"""
    link_bytes_per_s: BytesPerSecond | None = Field(default=None, alias="link_bandwidth")
    """that collectives between the devices of a server reach, in one direction; absent where not fitted"""


def variant_of(precision: Precision) -> Precision:
    """The precision whose efficiencies serve: fp16 runs like bf16, int8 and fp4 like fp8."""
    return "fp8" if is_narrow(precision) else "bf16" if precision == "fp16" else precision


def efficiency_of(
    device: Device,
    regime: Regime,
    precision: Precision,
    calibrations: tuple[Calibration, ...] | None = None,
    framework: str = "",
) -> tuple[Efficiency, bool]:
    """Efficiencies of a device in a regime, and whether they were fitted on this very device and precision.

    A precision that was not fitted takes the shares and links of bf16; one that was fitted on a device like this alone,
    what was fitted here in another precision, as far as it holds for all. Numbers fitted under an older `framework` go
    before. Where nothing was fitted, engines reach the part's own shares, and training what it typically does.
    """
    variant = variant_of(precision)
    for name in [f"{variant} {framework}", variant][not framework :]:
        numbers, is_fitted = numbers_of(device, regime, name, calibrations, SCALINGS)
        if numbers is not None:
            here = {} if is_fitted else _fitted_here(device, regime, calibrations)
            share = 1.0 if is_fitted else _beside_kin(device, regime, name, calibrations)
            matrix = min(share * numbers["matrix"], 1.0)
            return Efficiency.model_validate(numbers | here | {"matrix": matrix}), is_fitted
    if numbers := numbers_of(device, regime, "bf16", calibrations, SCALINGS)[0]:
        return Efficiency.model_validate(numbers), False
    if regime == "inference":
        matrix = device.matrix_efficiency
        numbers = {"matrix": matrix, "attention": matrix, "launch": device.launch_s}
    else:
        numbers = {
            "matrix": typical_matrix(device, precision), "attention": TRAINING_ATTENTION,
            "launch": TRAINING_LAUNCH_S, "step": TRAINING_STEP_S,
        }  # fmt: skip
    return Efficiency.model_validate(numbers | {"memory": device.memory_efficiency}), False


def typical_matrix(device: Device, precision: Precision) -> float:
    """Share of the matrix peak inside the tiles of training's products, where none was fitted; no more than single
    kernels reach."""
    balance = device.matrix_flops_per_s(precision) / device.memory_bytes_per_s
    return min(HALF_BALANCE / (HALF_BALANCE + balance), device.matrix_efficiency)


def _fitted_here(device: Device, regime: Regime, calibrations: tuple[Calibration, ...] | None) -> Numbers:
    """Numbers of the other precision that was fitted on this very device, as far as they hold for all precisions."""
    for variant in ("fp8", "bf16"):
        numbers, is_fitted = numbers_of(device, regime, variant, calibrations)
        if numbers is not None and is_fitted:
            return {name: numbers[name] for name in WHATEVER_THE_PRECISION if name in numbers}
    return {}


def _beside_kin(device: Device, regime: Regime, variant: str, calibrations: tuple[Calibration, ...] | None) -> float:
    """Share of the matrix peak that a device reaches in another precision, over that of the one whose curve of this
    precision it takes: what powers and clocks a part with other peaks in one precision does so in all. 1 where the
    peaks are the same, or nothing was fitted on both."""
    source = curve_source(device, regime, variant, calibrations)
    if source is None or (kin := load_device(source[0])).flops_per_s.get("bf16") == device.flops_per_s.get("bf16"):
        return 1.0
    for other in ("fp8", "bf16"):
        (own, is_own), (kins, is_kins) = (numbers_of(d, regime, other, calibrations) for d in (device, kin))
        if own and kins and is_own and is_kins:
            return own["matrix"] / kins["matrix"]
    return 1.0


def fitted_with(device: Device, regime: str, precision: Precision) -> str:
    """What a device's efficiencies were fitted on, with software and date where they are recorded."""
    origin = origin_of(device, regime, variant_of(precision))
    told = f": {origin.software}, {origin.date}" if origin is not None else ""
    return f"efficiencies fitted on {regime} of {device.name}{told}"
