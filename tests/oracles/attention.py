"""Attention kernels again, one shape at a time: tiles, thread blocks and splits counted by loops."""

import math

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision
from costmodel.kernels.attention_context import PrefillCurve
from costmodel.kernels.attention_generation import DecodeCurve


def blocks_of_tiles(tokens: int, cached: int, causal: bool) -> list[int]:
    """Tiles of 64 keys that each tile of 128 query rows runs over."""
    found = []
    for first in range(0, tokens, 128):
        last = min(first + 128, tokens) if causal else tokens
        found.append(math.ceil((cached + last) / 64))
    return found


def prefill_s(
    batch: int, tokens: int, cached: int, heads: int, kv_heads: int, head_dim: int, device: Device,
    precision: Precision, kv_precision: Precision, causal: bool, curve: PrefillCurve,
) -> float:  # fmt: skip
    """Seconds of prefill attention of one shape."""
    e, kv = BYTES_OF_PRECISION[precision], BYTES_OF_PRECISION[kv_precision]
    new = batch * tokens
    projections_read = 2 * new * (heads + 2 * kv_heads) * head_dim
    queries_written_and_read = 2 * e * new * heads * head_dim
    cache_written = 2 * kv * new * kv_heads * head_dim
    cache_read = 2 * kv * batch * (tokens + cached) * kv_heads * head_dim
    results_written = e * new * heads * head_dim
    moved = projections_read + queries_written_and_read + cache_written + cache_read + results_written
    memory_s = moved / device.memory_bytes_per_s / curve.memory_efficiency

    blocks = blocks_of_tiles(tokens, cached, causal)
    per_sm = device.matrix_flops_per_s(precision) / device.num_sm * curve.matrix_efficiency
    seconds = [curve.tile_s + n * (2 * 128 * 64 * head_dim * 2) / per_sm for n in blocks]
    rounds = math.ceil(batch * heads * len(blocks) / device.num_sm)
    return curve.launch_s + memory_s + max(rounds * sum(seconds) / len(seconds), max(seconds))


def decode_s(
    batch: int, context: int, heads: int, kv_heads: int, head_dim: int, device: Device,
    kv_precision: Precision, curve: DecodeCurve, distinct_share: float,
) -> float:  # fmt: skip
    """Seconds of decode attention of one shape: picks the kernel."""
    group = heads // kv_heads
    fp8 = kv_precision == "fp8" and "fp8" in device.flops_per_s
    enough = 4 * batch * kv_heads * max(1, context // 128) >= device.num_sm
    shape = (batch, context, heads, kv_heads, head_dim, device)
    if 2 <= group <= 32 and (fp8 or enough):
        return _grouped_s(*shape, BYTES_OF_PRECISION[kv_precision], fp8, curve, distinct_share)
    return _masked_s(*shape, BYTES_OF_PRECISION[kv_precision], curve, distinct_share)


def _grouped_s(
    batch: int, context: int, heads: int, kv_heads: int, head_dim: int, device: Device, element: float, fp8: bool,
    curve: DecodeCurve, distinct_share: float,
) -> float:  # fmt: skip
    splits = max(1, min(context // 128, round(math.sqrt(8 * (context // 128)))))
    rounds = batch * kv_heads * splits / device.num_sm
    if rounds > 8:
        splits = max(1, math.floor(splits / (rounds / 8)))
    step, resident = (64, 2) if fp8 else (128, 1)
    tokens = step * math.ceil(context / splits / step)
    rows = 8
    while rows < heads / kv_heads:
        rows *= 2
    block_s = curve.fp8_block_s if fp8 else curve.grouped_block_s
    block_s += (curve.fp8_token_s if fp8 else curve.grouped_token_s) * tokens * head_dim / 128
    block_s *= 1 + (curve.fp8_share if fp8 else curve.grouped_share) * (rows / 8 - 1)
    busy_s = max(1, math.ceil(batch * kv_heads * splits / (device.num_sm * resident))) * block_s
    read = 2 * batch * kv_heads * context * head_dim * element * distinct_share
    memory_s = read / device.memory_bytes_per_s / curve.memory_efficiency
    first_s = curve.launch_s if fp8 else curve.launch_s + curve.grouped_launch_s
    return first_s + math.hypot(busy_s, memory_s) + curve.split_s * math.sqrt(splits - 1) / 2


def _masked_s(
    batch: int, context: int, heads: int, kv_heads: int, head_dim: int, device: Device, element: float,
    curve: DecodeCurve, distinct_share: float,
) -> float:  # fmt: skip
    splits = max(1, min(math.ceil(device.num_sm / (batch * heads)), context // 256))
    blocks, tokens = batch * heads * splits, context / splits
    if 3 * blocks < 4 * device.num_sm:
        resident = 1
    elif blocks < 4 * device.num_sm:
        resident = 2
    else:
        resident = 4
    busy_s = math.ceil(blocks / (resident * device.num_sm)) * curve.masked_block_s
    busy_s += max(1.0, blocks / device.num_sm) * tokens * curve.masked_token_s * head_dim / 128
    keys_at_once = min(blocks, resident * device.num_sm) * kv_heads / heads * tokens * head_dim * element
    share = distinct_share if keys_at_once < device.l2_bytes else 1.0
    memory_s = 2 * batch * kv_heads * context * head_dim * element * share
    memory_s /= device.memory_bytes_per_s * curve.memory_efficiency
    return curve.launch_s + math.hypot(busy_s, memory_s) + (2 * curve.split_s if splits > 1 else 0.0)
