"""Serving at a fixed concurrency, simulated step by step: continuous batching, admission, overheads of backends."""

from costmodel.serving.simulate import ServingResult, StepParts, simulate

__all__ = ["ServingResult", "StepParts", "simulate"]
