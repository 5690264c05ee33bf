"""Tables of measurements -> the few efficiency parameters of a catalog part, and their errors."""

from importlib import import_module

from costmodel.calibrate.family import Family
from costmodel.kernels.collective import CollectiveCurve
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
    except ImportError:
        continue

CURVES: dict[str, type[Spec]] = {"nccl": CollectiveCurve}
"""family -> the parameters of its curves"""
