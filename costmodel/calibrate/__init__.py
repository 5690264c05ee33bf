"""Tables of measurements -> the few efficiency parameters of a catalog part, and their errors."""

from importlib import import_module

from costmodel.calibrate.family import Family
from costmodel.efficiency import Efficiency
from costmodel.kernels.attention_context import PrefillCurve
from costmodel.kernels.attention_generation import DecodeCurve
from costmodel.kernels.collective import CollectiveCurve
from costmodel.kernels.gemm import GemmCurve
from costmodel.spec import Spec

_PLACES = {
    "gemm": ("gemm", "FAMILY"),
    "nccl": ("collective", "FAMILY"),
    "attention_context": ("attention", "CONTEXT"),
    "attention_generation": ("attention", "GENERATION"),
    "serving": ("serving", "FAMILY"),
    "training": ("training", "FAMILY"),
    "calculon": ("calculon", "FAMILY"),
}
FAMILIES: dict[str, Family] = {}
"""kind of a table -> what is known of it"""
for _kind, (_module, _name) in _PLACES.items():
    try:
        FAMILIES[_kind] = getattr(import_module(f"costmodel.calibrate.{_module}"), _name)
    except (ImportError, AttributeError, SyntaxError):
        continue

CURVES: dict[str, type[Spec]] = {
    "gemm": GemmCurve,
    "nccl": CollectiveCurve,
    "attention_context": PrefillCurve,
    "attention_generation": DecodeCurve,
    "training": Efficiency,
}
"""family -> the parameters of its curves"""
