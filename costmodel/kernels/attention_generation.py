"""Time of decode attention: one new token a sequence attends to its cached context.

Two kernels share the work, as in TensorRT-LLM: the masked one has a thread block for each query head, the grouped one
a thread block for all query heads of a key-value head. Either splits long contexts over several thread blocks, whose
results are then joined. A thread block has a fixed time and a time by token; memory traffic overlaps with both.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision
from costmodel.kernels.attention_shape import columns
from costmodel.kernels.smooth import p_norm, waves
from costmodel.pricing.calibration import Calibration, default_numbers, numbers_of
from costmodel.pricing.scaling import by_cycles, by_stream_seconds
from costmodel.spec import Seconds, Spec

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FAMILY, VARIANT = "attention_generation", "all"
MAX_GROUP = 32
"""most query heads by key-value head that the grouped kernel serves (TensorRT-LLM)"""
SPLIT_TOKENS, SPLIT_ROUNDS, MIN_BLOCK_SHARE = 128, 8, 0.25
"""grouped kernel: least tokens of a split, most rounds that splits may make, and least share of the
multiprocessors that must have a thread block for it to be chosen (TensorRT-LLM decoderXQAConstants.h)"""
STEP_TOKENS, FP8_STEP_TOKENS, FP8_BLOCKS_PER_SM = 128, 64, 2
"""grouped kernel: tokens of a step, and resident thread blocks (one with a bf16 cache); of 64 to 512 tokens and 1 to 4
thread blocks those that fit A100 and H100 tables best"""
MASKED_SPLIT_TOKENS, MASKED_BLOCKS_PER_SM, MASKED_JOINS = 256, 4, 2.0
"""masked kernel: least tokens of a split, most resident thread blocks (fewer, larger ones where there are few),
and the time of joining over `split_s`; as the steps of the A100 and H100 tables show"""
HEAD_DIM = 128.0
"""of the measured rows; times by token are in proportion"""
SCALINGS = dict.fromkeys(
    ("launch_s", "split_s", "masked_block_s", "grouped_launch_s", "grouped_block_s", "fp8_block_s"), by_cycles
) | dict.fromkeys(("masked_token_s", "grouped_token_s", "fp8_token_s"), by_stream_seconds)
"""how numbers fitted on one device carry over to another"""
OVERLAP = 2.0
"""exponent by which memory and thread blocks overlap; the tables tell none from 1.5 to 8 apart by a tenth"""


class DecodeCurve(Spec):
    """Times of both decode kernels on one device; defaults are those of an H100, rounded."""

    launch_s: Seconds = 3.6e-6
    """a kernel that does nothing"""
    memory_efficiency: float = Field(default=0.95, gt=0, le=1)
    """share of the memory peak that reading the cache reaches"""
    split_s: Seconds = 2.4e-6
    """joining the results of five splits; as the square root of their number"""
    masked_block_s: Seconds = 5.3e-6
    """masked kernel: fixed time of a thread block"""
    masked_token_s: Seconds = 9.7e-9
    """masked kernel: time of a multiprocessor on a cached token and query head"""
    grouped_launch_s: Seconds = 2.4e-6
    """grouped kernel of a bf16 cache: a first kernel that rotates and writes the new keys"""
    grouped_block_s: Seconds = 3.8e-6
    """grouped kernel of a bf16 cache: fixed time of a thread block"""
    grouped_token_s: Seconds = 6.8e-9
    """the same: time of a thread block on a cached token"""
    grouped_share: float = Field(default=0.16, ge=0)
    """the same: further time of a thread block for each 8 query heads beyond 8, as a share"""
    fp8_block_s: Seconds = 2.2e-6
    """grouped kernel of an fp8 cache on fp8 matrix units: fixed time of a thread block"""
    fp8_token_s: Seconds = 7.6e-9
    """the same: time of a thread block on a cached token"""
    fp8_share: float = Field(default=0.5, ge=0)
    """the same: further time of a thread block for each 8 query heads beyond 8, as a share"""


def decode_curve(
    device: Device, variant: str = VARIANT, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[DecodeCurve, bool]:
    """The curve of a device, and whether it was fitted on this very device. One curve serves all precisions."""
    if variant != VARIANT:
        raise ValueError(f"decode attention has one curve a device; give variant '{VARIANT}' instead of '{variant}'")
    numbers, is_fitted_here = numbers_of(device, FAMILY, variant, calibrations, SCALINGS)
    return DecodeCurve.model_validate(numbers or default_numbers(DecodeCurve(), SCALINGS, device)), is_fitted_here


@dataclass(frozen=True)
class _Load:
    """Columns of one shape."""

    element_bytes: float
    """of the cache"""
    batch: Floats
    context: Floats
    heads: Floats
    kv_heads: Floats
    head_dim: Floats

    @property
    def group(self) -> Floats:
        return np.asarray(self.heads / self.kv_heads)

    @property
    def token_bytes(self) -> Floats:
        """Keys and values of one token and key-value head."""
        return np.asarray(2 * self.head_dim * self.element_bytes)

    @property
    def cache_bytes(self) -> Floats:
        return np.asarray(self.batch * self.kv_heads * self.context * self.token_bytes)


def decode_attention_s(
    batch: ArrayLike,
    context: ArrayLike,
    heads: ArrayLike,
    kv_heads: ArrayLike,
    head_dim: ArrayLike,
    device: Device,
    *,
    precision: Precision,
    kv_precision: Precision,
    curve: DecodeCurve | None = None,
    distinct_share: float = 1.0,
) -> Floats:
    """Seconds of one layer's attention of one new token a sequence, in the shape that the arguments broadcast to.

    Each of `batch` sequences reads `context` cached tokens (> 0) in `kv_precision`; the arithmetic is in `precision`.
    `distinct_share` of the cache differs in memory: 1 in use. In benchmarks whose keys and values share blocks it is
    one half, and the second reading hits the cache of the device: such rows run above the peak of the memory, which
    no server does.
    """
    device.matrix_flops_per_s(precision)
    sizes = columns(batch=batch, context=context, heads=heads, kv_heads=kv_heads, head_dim=head_dim)
    load = _Load(BYTES_OF_PRECISION[kv_precision], *sizes)
    curve = decode_curve(device)[0] if curve is None else curve
    is_fp8 = kv_precision == "fp8" and "fp8" in device.flops_per_s
    grouped_s = _grouped_s(load, device, curve, is_fp8, distinct_share)
    masked_s = _masked_s(load, device, curve, distinct_share)
    return np.asarray(np.where(_is_grouped(load, device, is_fp8), grouped_s, masked_s))


def _is_grouped(load: _Load, device: Device, is_fp8: bool) -> Bools:
    """Whether the grouped kernel is chosen; the one of an fp8 cache always is where it can."""
    num_blocks = load.batch * load.kv_heads * np.maximum(1.0, np.floor(load.context / SPLIT_TOKENS))
    has_blocks = is_fp8 | (num_blocks >= MIN_BLOCK_SHARE * device.num_sm)
    return np.asarray((load.group > 1) & (load.group <= MAX_GROUP) & has_blocks)


def _grouped_s(load: _Load, device: Device, curve: DecodeCurve, is_fp8: bool, distinct_share: float) -> Floats:
    """The grouped kernel: one thread block a sequence, key-value head and split; every byte is read once."""
    splits = _grouped_splits(load, device)
    if is_fp8:
        launch_s, block_s, token_s, share = 0.0, curve.fp8_block_s, curve.fp8_token_s, curve.fp8_share
        step, resident = FP8_STEP_TOKENS, FP8_BLOCKS_PER_SM
    else:
        launch_s, block_s, token_s = curve.grouped_launch_s, curve.grouped_block_s, curve.grouped_token_s
        share, step, resident = curve.grouped_share, STEP_TOKENS, 1
    rows = 2.0 ** np.ceil(np.log2(np.maximum(load.group, 8.0) / 8.0))
    tokens = np.ceil(load.context / splits / step) * step
    each_s = (block_s + tokens * token_s * load.head_dim / HEAD_DIM) * (1 + share * (rows - 1))
    busy_s = waves(load.batch * load.kv_heads * splits / (device.num_sm * resident), 1.0) * each_s
    memory_s = load.cache_bytes * distinct_share / (device.memory_bytes_per_s * curve.memory_efficiency)
    join_s = curve.split_s * np.sqrt(splits - 1) / 2
    return np.asarray(curve.launch_s + launch_s + p_norm(busy_s, memory_s, OVERLAP) + join_s)


def _grouped_splits(load: _Load, device: Device) -> Floats:
    """Splits of a context: at least 128 tokens each, fewer of long contexts, and at most 8 rounds in all."""
    most = np.floor(load.context / SPLIT_TOKENS)
    splits = np.maximum(1.0, np.minimum(most, np.round(np.sqrt(8 * most))))
    rounds = load.batch * load.kv_heads * splits / device.num_sm / SPLIT_ROUNDS
    return np.asarray(np.maximum(1.0, np.where(rounds > 1, np.floor(splits / np.maximum(rounds, 1.0)), splits)))


def _masked_s(load: _Load, device: Device, curve: DecodeCurve, distinct_share: float) -> Floats:
    """The masked kernel: one thread block a sequence, query head and split.

    It reads all keys, then all values: where they share memory, the second reading hits the cache of the device if
    the keys of all resident thread blocks fit into it.
    """
    num_sm, sequences = device.num_sm, load.batch * load.heads
    splits = np.minimum(np.ceil(num_sm / sequences), np.floor(load.context / MASKED_SPLIT_TOKENS))
    splits = np.maximum(1.0, splits)
    blocks, tokens = sequences * splits, load.context / splits
    slots = MASKED_BLOCKS_PER_SM * num_sm
    resident = np.where(blocks < slots / 3, 1, np.where(blocks < slots, 2, MASKED_BLOCKS_PER_SM))
    token_s = curve.masked_token_s * load.head_dim / HEAD_DIM
    busy_s = np.ceil(blocks / (num_sm * resident)) * curve.masked_block_s
    busy_s = busy_s + np.maximum(blocks / num_sm, 1.0) * tokens * token_s
    live_bytes = np.minimum(blocks, resident * num_sm) / load.group * tokens * load.token_bytes / 2
    read_bytes = load.cache_bytes * np.where(live_bytes < device.l2_bytes, distinct_share, 1.0)
    memory_s = read_bytes / (device.memory_bytes_per_s * curve.memory_efficiency)
    join_s = MASKED_JOINS * curve.split_s * (splits > 1)
    return np.asarray(curve.launch_s + p_norm(busy_s, memory_s, OVERLAP) + join_s)
