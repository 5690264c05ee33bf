"""Kernels as a source states them in a few numbers, in place of the curves that were fitted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from costmodel.hardware.device import Device, Precision
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.opgraph import Operator
from costmodel.serving.backends import ServingCurve
from costmodel.spec import Bytes, Seconds, Spec


class KernelRules(Spec):
    """How operators behave; one set holds for all systems that are compared. The defaults are the part's peaks."""

    memory_efficiency: float = Field(default=1.0, gt=0, le=1)
    """share of the memory's bandwidth that long transfers reach"""
    memory_ramp_bytes: Bytes = 0.0
    """bytes whose time each operator adds to its own; it reaches half of the bandwidth at so many bytes"""
    matrix_efficiency: float = Field(default=1.0, gt=0, le=1)
    """share of the matrix peak that large products reach"""
    matrix_ramp_flops: float = Field(default=0.0, ge=0)
    """operations whose time each product adds to its own; it reaches half of the peak at so many"""
    all_reduce_start_s: Seconds = 0.0
    """fixed time of an all-reduce inside a server"""
    link_efficiency: float = Field(default=1.0, gt=0, le=1)
    """share of the link's rate that an all-reduce inside a server reaches"""
    all_reduces: bool = True
    """whether ranks that divide matrices exchange anything"""
    layer_overhead_s: Seconds = 0.0
    """fixed time of a layer"""
    memory_reserve: float = Field(default=0.0, ge=0, lt=1)
    """share of the capacity that holds neither weights nor keys and values"""
    overlaps_memory: bool = True
    """whether an operator computes while it loads; if not, the two times add up"""
    fuses_attention: bool = True
    """whether attention is one operator that keeps its scores on the chip"""
    fuses_residuals: bool = True
    """whether residual additions are part of the norms"""
    skips_masked: bool = True
    """whether causal attention leaves out what is masked"""
    vocabulary: bool = True
    """whether a pass ends in the projection on the vocabulary, in the precision of the layers; papers that time single
    layers leave it out"""
    first_token_is_decoded: bool = False
    """whether the first token of an answer takes a decode step too, instead of coming out of the prefill"""

    @property
    def norm_accesses(self) -> tuple[float, ...]:
        """Of the hidden state by each operator between attention and feed-forward network."""
        return (2.0,) if self.fuses_residuals else (2.0, 3.0)

    @property
    def software(self) -> ServingCurve:
        """An engine that loses no time beside what the rules say; a request that starts has room to its end."""
        return ServingCurve(
            matrix_slowdown=1.0, layer_s=self.layer_overhead_s, fp8_efficiency=1.0, sequence_s=0.0, eager_layer_s=0.0,
            first_token_s=0.0, missed_steps=0.0, reserved_share=1.0, runtime_bytes=0.0,
        )  # fmt: skip


@dataclass(frozen=True)
class RuledKernels:
    """Prices operators and exchanges of one replica by such rules. All fixed times are those of the rules: a memory
    that is far adds none."""

    rules: KernelRules
    device: Device
    precision: Precision
    """whose matrix peak holds for all operators"""

    def operators_s(self, operators: Sequence[Operator]) -> list[tuple[Floats, Floats, Floats]]:
        """Each by the rules."""
        return [self._one_s(operator) for operator in operators]

    def _one_s(self, operator: Operator) -> tuple[Floats, Floats, Floats]:
        """(flops + ramp) / (efficiency x peak) beside (bytes + ramp) / (efficiency x bandwidth), or before it."""
        rules, device = self.rules, self.device
        moved = np.asarray(operator.memory_bytes, np.float64) + rules.memory_ramp_bytes
        memory_s = np.asarray(moved / (rules.memory_efficiency * device.memory_bytes_per_s))
        if operator.kind == "elementwise":
            return np.zeros_like(memory_s), memory_s, memory_s
        flops = np.asarray(operator.flops, np.float64) + rules.matrix_ramp_flops
        compute_s = np.asarray(flops / (rules.matrix_efficiency * device.matrix_flops_per_s(self.precision)))
        total_s = np.maximum(compute_s, memory_s) if rules.overlaps_memory else compute_s + memory_s
        return compute_s, memory_s, total_s

    def all_reduce_s(self, ranks: Floats, message_bytes: Floats, node_bytes_per_s: Floats) -> Floats:
        """start + 2 (t - 1) / t x bytes / (efficiency x link)."""
        rate = self.rules.link_efficiency * node_bytes_per_s
        return np.asarray(self.rules.all_reduce_start_s + 2 * (ranks - 1) / ranks * message_bytes / rate)
