"""Inference of a transformer on a group of accelerators: one pass by operator, then whole requests."""

from costmodel.inference.engine import Engine, KernelRules
from costmodel.inference.layer import LayerTime, layer_s
from costmodel.inference.serving import Served, largest_batch, pass_s, serve

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
