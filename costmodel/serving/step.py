"""Time of one engine step on one tensor rank: matrices, attention, KV cache, all-reduces, and the software's share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision, is_narrow
from costmodel.kernels.attention_context import prefill_attention_s, prefill_curve, variant_of
from costmodel.kernels.collective import collective_curve, node_collective_s
from costmodel.kernels.gemm import gemm_curve, gemm_s
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.calibration import Calibrations
from costmodel.serving.backends import ServingCurve
from costmodel.workloads.transformer.shapes import TransformerShape, attention_matrices, ffn_matrices, kv_dim

TOKENS = np.unique(np.round(np.concatenate([[1.0], np.arange(8.0, 128.0, 8.0), 2.0 ** np.arange(7.0, 17.1, 0.5)])))
"""tokens of a step at which products are timed; between them time is linear"""
CACHE_EFFICIENCY = 0.9
"""share of the memory peak at which engines read the KV cache. Kernel tables with shared blocks show more than the
peak; serving of H100 fits equally well from 0.8 to 1"""
ACTIVATION: Precision = "bf16"
"""of attention's arithmetic, norms, residuals, all-reduces and the vocabulary"""


@dataclass(frozen=True)
class Precisions:
    """Of each part; weights may be narrower than the activations that they meet, not wider."""

    weights: Precision
    activations: Precision
    kv: Precision

    def __post_init__(self) -> None:
        if BYTES_OF_PRECISION[self.weights] > BYTES_OF_PRECISION[self.activations]:
            raise ValueError(
                f"weights ({self.weights}) are wider than activations ({self.activations}); "
                f"give weights the precision of the activations"
            )


@dataclass(frozen=True)
class RankTimes:
    """One rank's device times; a step of n tokens that ends s sequences takes layers(n) + vocabulary(s) + caches."""

    layers_s: Floats
    """(TOKENS,): matrices, norms, all-reduces and gaps of all layers"""
    vocabulary_s: Floats
    """(TOKENS,): logits of so many sequences"""
    cached_token_s: float
    """reading the keys and values of one token"""
    curve: ServingCurve
    num_layers: int

    @property
    def prefill_floor_s(self) -> float:
        return self.num_layers * self.curve.eager_layer_s

    def tokens_s(self, tokens: ArrayLike, sequences: ArrayLike) -> Floats:
        """Everything but attention, of a step of `tokens` that yields a token for each of `sequences`."""
        return self.layers_at_s(tokens) + self.vocabulary_at_s(sequences)

    def layers_at_s(self, tokens: ArrayLike) -> Floats:
        return np.asarray(np.interp(np.asarray(tokens, dtype=np.float64), TOKENS, self.layers_s))

    def vocabulary_at_s(self, sequences: ArrayLike) -> Floats:
        return np.asarray(np.interp(np.asarray(sequences, dtype=np.float64), TOKENS, self.vocabulary_s))

    def step_s(
        self, sequences: ArrayLike, cached: ArrayLike, prompts: ArrayLike, prompt_tokens: ArrayLike, prompt_s: ArrayLike
    ) -> Floats:
        """One step: `sequences` get a token over `cached` tokens in all, `prompts` of `prompt_tokens` each start.

        `prompt_s` is the attention of one prompt (prompt_attention_s).
        """
        b, c, g = (np.asarray(x, dtype=np.float64) for x in (sequences, cached, prompts))
        tokens = b + g * np.asarray(prompt_tokens, dtype=np.float64)
        device_s = self.tokens_s(tokens, b + g) + g * np.asarray(prompt_s) + c * self.cached_token_s
        floor_s = np.where(g > 0, self.prefill_floor_s, 0.0)
        return np.asarray(np.maximum(device_s, floor_s) + self.curve.sequence_s * (b + g))


def rank_times(
    shape: TransformerShape,
    device: Device,
    tensor: int,
    precisions: Precisions,
    curve: ServingCurve,
    calibrations: Calibrations | None = None,
) -> RankTimes:
    """Times of one of `tensor` ranks of a dense model. ValueError for experts or a precision that does not run.

    `calibrations` replaces the catalog's curves of products and collectives.
    """
    if not shape.is_dense:
        raise ValueError(f"serving of {shape.experts} experts is not simulated; give a dense model")
    degree = np.array([float(tensor)])
    matrices = {**attention_matrices(shape, degree), **ffn_matrices(shape, float(shape.ffn), degree)}
    layer_s = curve.layer_s + _elementwise_s(shape, device, tensor)
    for inputs, outputs in matrices.values():
        product_s = _product_s(outputs[0], inputs[0], device, precisions, curve, calibrations)
        layer_s = layer_s + curve.matrix_slowdown * product_s
    message_bytes = TOKENS * shape.hidden * BYTES_OF_PRECISION[ACTIVATION]
    links, _ = collective_curve(device, calibrations)
    layer_s = layer_s + 2 * node_collective_s("all_reduce", float(tensor), message_bytes, device, links)
    own, _ = gemm_curve(device, ACTIVATION, calibrations)
    logits_s = gemm_s(TOKENS, shape.vocabulary / tensor, float(shape.hidden), device, ACTIVATION, own)
    kv_bytes = kv_token_bytes(shape, tensor, precisions.kv)
    return RankTimes(
        layers_s=shape.layers * layer_s,
        vocabulary_s=curve.matrix_slowdown * logits_s,
        cached_token_s=kv_bytes / (device.memory_bytes_per_s * CACHE_EFFICIENCY),
        curve=curve,
        num_layers=shape.layers,
    )


def kv_token_bytes(shape: TransformerShape, tensor: int, kv: Precision) -> float:
    """Keys and values of one token in all layers on one rank."""
    width = float(kv_dim(shape, np.array([float(tensor)]))[0])
    return shape.layers * 2 * width * BYTES_OF_PRECISION[kv]


def prompt_attention_s(
    shape: TransformerShape,
    device: Device,
    tensor: int,
    precisions: Precisions,
    input_tokens: ArrayLike,
    calibrations: Calibrations | None = None,
) -> Floats:
    """Attention of a whole prompt over itself in all layers of a rank, in the shape of `input_tokens`."""
    layer_s = prefill_attention_s(
        1.0,
        input_tokens,
        0.0,
        shape.heads / tensor,
        max(shape.kv_heads / tensor, 1.0),
        float(shape.head_dim),
        device,
        precision=ACTIVATION,
        kv_precision=precisions.kv,
        curve=prefill_curve(device, variant_of(ACTIVATION), calibrations)[0],
    )
    return shape.layers * layer_s


def _product_s(
    outputs: float,
    inputs: float,
    device: Device,
    precisions: Precisions,
    curve: ServingCurve,
    calibrations: Calibrations | None,
) -> Floats:
    """One weight matrix by tokens, (TOKENS,).

    Quantization is fused with neighbours in engines, so that its separate kernels are left out; what fp8 loses is in
    `fp8_efficiency`. Narrow weights beside wider activations: traffic of the weights, arithmetic of the activations.
    """
    weights, activations = precisions.weights, precisions.activations
    own = gemm_curve(device, weights, calibrations)[0].with_fused_quantization()
    if activations != weights:
        wide = gemm_curve(device, activations, calibrations)[0].matrix_efficiency
        rate = wide * device.matrix_flops_per_s(activations) / device.matrix_flops_per_s(weights)
        own = own.model_copy(update={"matrix_efficiency": rate})
    elif is_narrow(weights):
        own = own.model_copy(update={"matrix_efficiency": own.matrix_efficiency * curve.fp8_efficiency})
    return gemm_s(TOKENS, outputs, inputs, device, weights, own)


def _elementwise_s(shape: TransformerShape, device: Device, tensor: int) -> Floats:
    """Norms and residuals (10 accesses of the hidden state) and the activation of a layer, (TOKENS,)."""
    element_bytes = BYTES_OF_PRECISION[ACTIVATION]
    per_token = element_bytes * (10 * shape.hidden + shape.ffn_matrices * shape.ffn / tensor)
    return TOKENS * per_token / (device.memory_bytes_per_s * device.memory_efficiency)
