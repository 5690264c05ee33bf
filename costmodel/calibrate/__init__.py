"""Tables of measurements -> the few efficiency parameters of a catalog part, and their errors."""

from costmodel.calibrate import (
    attention,
    calculon,
    collective,
    gemm,
    kernel_power,
    network_training,
    power,
    serving,
    training,
)
from costmodel.calibrate.family import Family
from costmodel.kernels.attention_context import PrefillCurve
from costmodel.kernels.attention_generation import DecodeCurve
from costmodel.kernels.collective import CollectiveCurve
from costmodel.kernels.gemm import GemmCurve
from costmodel.pricing.efficiency import Efficiency
from costmodel.serving.backends import ServingCurve
from costmodel.spec import Spec

FAMILIES: dict[str, Family] = {
    "gemm": gemm.FAMILY,
    "nccl": collective.FAMILY,
    "attention_context": attention.CONTEXT,
    "attention_generation": attention.GENERATION,
    "serving": serving.FAMILY,
    "training": training.FAMILY,
    "network_training": network_training.FAMILY,
    "power": power.FAMILY,
    "kernel_power": kernel_power.FAMILY,
    "calculon": calculon.FAMILY,
}
"""kind of a table -> what is known of it"""

CURVES: dict[str, type[Spec]] = {
    "gemm": GemmCurve,
    "nccl": CollectiveCurve,
    "attention_context": PrefillCurve,
    "attention_generation": DecodeCurve,
    "serving": ServingCurve,
    "training": Efficiency,
}
"""family -> the parameters of its curves"""
