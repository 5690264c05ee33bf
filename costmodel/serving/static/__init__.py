"""Inference of a transformer on a group of accelerators: one pass by operator, then whole requests."""

from costmodel.serving.static.engine import Engine, KernelRules
from costmodel.serving.static.layer import LayerTime, layer_s
from costmodel.serving.static.serving import Served, largest_batch, pass_s, serve

__all__ = [
    "Engine",
    "KernelRules",
    "LayerTime",
    "Served",
    "largest_batch",
    "layer_s",
    "pass_s",
    "serve",
]
