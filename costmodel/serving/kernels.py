"""Kernels inside an engine: the curves of a device, slower by what a backend loses around them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision, is_narrow
from costmodel.hardware.memory.columns import MemoryColumns
from costmodel.kernels.attention_context import PrefillCurve, prefill_attention_s, prefill_curve, variant_of
from costmodel.kernels.collective import CollectiveCurve, collective_curve, node_collective_s
from costmodel.kernels.gemm import GemmCurve, gemm_curve
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.opgraph import AttentionSizes, Operator
from costmodel.pricing.products import products_beside, products_on
from costmodel.serving.backends import ServingCurve

CACHE_EFFICIENCY = 0.9
"""share of the memory peak at which engines read the KV cache; serving of H100 fits equally well from 0.8 to 1. The
fitted kernel of tokens is that of one engine, up to 2.5 times slower for some ten requests in bf16: in its place errors
of serving grow, from 12 to 16 % of the time per output token for a model that was left out of the fit"""
ACTIVATION: Precision = "bf16"
"""of attention's arithmetic"""


@dataclass(frozen=True)
class EngineKernels:
    """Prices operators of one replica's ranks."""

    device: Device
    precision: Precision
    """of matrix products, unless they have their own"""
    curve: ServingCurve
    calibrations: Calibrations | None = None
    """instead of the catalog's"""
    memories: MemoryColumns | None = None
    """of each distinct shape, shape (K,), or of all, in place of the device's: curves are those of the device"""
    _products: dict[Precision, GemmCurve] = field(default_factory=dict, init=False, repr=False, compare=False)
    """by precision, those that were needed so far: finding them takes longer than a table of a few rows"""

    def operators_s(self, operators: Sequence[Operator]) -> list[tuple[Floats, Floats, Floats]]:
        """Products and prefill attention by fitted kernels; other traffic at what its stream reaches.

        Gaps between kernels belong to the layer, whatever it runs: they are no part of an operator, but the wait for
        a memory that is far is.
        """
        products_s = self._products_s([operator for operator in operators if operator.sizes is not None])
        return [self._one_s(operator, products_s.get(id(operator))) for operator in operators]

    def _one_s(self, operator: Operator, product_s: Floats | None) -> tuple[Floats, Floats, Floats]:
        device, memory, runs = self.device, self._memory, operator.precision or self.precision
        products = self._products_in(runs)
        compute_s = np.asarray(operator.flops / (products.matrix_efficiency * device.matrix_flops_per_s(runs)))
        memory_s = np.asarray(operator.memory_bytes / (device.memory_efficiency * memory.bytes_per_s))
        if product_s is not None:
            total_s = self.curve.matrix_slowdown * product_s
        elif operator.attention is not None:
            total_s = self._attention_s(operator, operator.attention)
        else:
            total_s = np.maximum(self.curve.matrix_slowdown * compute_s, memory_s)
        return compute_s, memory_s, total_s + memory.first_byte_s

    def _products_s(self, operators: Sequence[Operator]) -> dict[int, Floats]:
        """Matrix products alone, by the id of their operator: each once, unless shapes have memories of their own."""
        found: dict[int, Floats] = {}
        for runs in dict.fromkeys(operator.precision or self.precision for operator in operators):
            some = [each for each in operators if (each.precision or self.precision) == runs]
            curve, sizes = self._products_in(runs), list(map(as_one, some))
            peak = self._memory.bytes_per_s
            if isinstance(peak, float) and peak == self.device.memory_bytes_per_s:
                times = products_on(self.device, runs, curve).seconds_of_all(sizes)
            else:
                times = products_beside(sizes, [peak] * len(sizes), self.device, runs, curve)
            found |= zip(map(id, some), times, strict=True)
        return found

    @cached_property
    def _memory(self) -> MemoryColumns:
        return MemoryColumns.of(self.device) if self.memories is None else self.memories

    @cached_property
    def _prefill(self) -> PrefillCurve:
        return prefill_curve(self.device, variant_of(ACTIVATION), self.calibrations)[0]

    @cached_property
    def _collectives(self) -> CollectiveCurve:
        return collective_curve(self.device, self.calibrations)[0]

    def _products_in(self, precision: Precision) -> GemmCurve:
        if precision not in self._products:
            self._products[precision] = self._engine_products(precision)
        return self._products[precision]

    def _engine_products(self, precision: Precision) -> GemmCurve:
        """Quantization is fused with neighbours in engines, so that its separate kernels are left out; what fp8 loses
        is in `fp8_efficiency`."""
        own = gemm_curve(self.device, precision, self.calibrations)[0].with_fused_quantization()
        if not is_narrow(precision):
            return own
        return own.model_copy(update={"matrix_efficiency": own.matrix_efficiency * self.curve.fp8_efficiency})

    def _attention_s(self, operator: Operator, sizes: AttentionSizes) -> Floats:
        """Of running requests; of prompts by the kernel, once each."""
        if np.all((np.asarray(sizes.tokens) == 1) & (np.asarray(sizes.cached) > 0)):
            return self._tokens_s(operator, sizes)
        return sizes.batch * prefill_attention_s(
            1.0, sizes.tokens, sizes.cached, sizes.heads, sizes.kv_heads, sizes.head_dim, self.device,
            precision=ACTIVATION, kv_precision=sizes.kv_precision, causal=sizes.causal, curve=self._prefill,
            memory_bytes_per_s=self._memory.bytes_per_s,
        )  # fmt: skip

    def _tokens_s(self, operator: Operator, sizes: AttentionSizes) -> Floats:
        """The slower of reading the caches and of the arithmetic, at the share of the peak that prompts reach: many
        heads over one latent are bound by it."""
        element_bytes = BYTES_OF_PRECISION[sizes.kv_precision]
        cached = sizes.batch * np.asarray(sizes.cached) * sizes.kv_heads * sizes.head_dim
        read_s = 2 * element_bytes * cached / (self._memory.bytes_per_s * CACHE_EFFICIENCY)
        peak = self._prefill.matrix_efficiency * self.device.matrix_flops_per_s(ACTIVATION)
        return np.asarray(np.maximum(read_s, operator.flops / peak))

    def all_reduce_s(self, ranks: Floats, message_bytes: Floats, node_bytes_per_s: Floats) -> Floats:
        """By the node's curve; links of another rate than the device's own reach the same share of it."""
        found = np.empty(len(ranks))
        for rate in np.unique(node_bytes_per_s):
            rows = node_bytes_per_s == rate
            own = _over_links(self._collectives, float(rate) / self.device.link_bytes_per_s)
            found[rows] = node_collective_s("all_reduce", ranks[rows], message_bytes[rows], self.device, own)
        return found


def as_one(operator: Operator) -> tuple[Floats | float, Floats | float, Floats | float]:
    """Sizes of products that one kernel runs together, as of one: their results stand side by side, so that it has as
    many tiles and reads as many weights."""
    assert operator.sizes is not None
    if operator.routing == "none":
        return operator.sizes
    m, n, k = operator.sizes
    return np.maximum(m / np.asarray(operator.products), 1.0), n * np.asarray(operator.products), k


def _over_links(curve: CollectiveCurve, share: float) -> CollectiveCurve:
    rates = {"link_bytes_per_s": share * curve.link_bytes_per_s, "packet_bytes_per_s": share * curve.packet_bytes_per_s}
    return curve if share == 1.0 else curve.model_copy(update=rates)
