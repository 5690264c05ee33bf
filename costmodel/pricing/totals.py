"""What each mapping computes and sends in a step, whatever its collectives: sums over the blocks of a graph."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costmodel.parallelism.mappings import DIMENSIONS, Floats
from costmodel.pricing.opgraph import Block
from costmodel.pricing.roofline import BlockPrice


@dataclass(frozen=True)
class Messages:
    """Messages along one dimension, columns of shape (M,); the repeated ones are those inside a bubble."""

    count: Floats
    starts: Floats
    """of their parts"""
    size_bytes: Floats
    """count x bytes"""
    repeated_count: Floats
    repeated_starts: Floats
    repeated_bytes: Floats
    mean_bytes: Floats
    """count x bytes of the mean stage"""


@dataclass(frozen=True)
class Totals:
    """Columns of shape (M,), of one accelerator and step."""

    compute_s: Floats
    memory_s: Floats
    flops_j: Floats
    """of the mean stage, as are memory_bytes"""
    memory_bytes: Floats
    repeated_s: Floats
    """operators inside the bubble"""
    last_compute_s: Floats
    """of these operators, those of the last stage alone, as are last_memory_s"""
    last_memory_s: Floats
    messages: dict[int, Messages]
    """by axis of DIMENSIONS, those along which anything is sent"""


def totals(num_mappings: int, blocks: Iterable[tuple[Block, BlockPrice]], processors: Floats | float = 1.0) -> Totals:
    """Sums of times x price, where a share of the processors computes."""
    compute_s, memory_s, flops_j, memory_bytes, repeated_s, last_compute_s, last_memory_s = np.zeros((7, num_mappings))
    sums: dict[int, list[Floats]] = {}
    for block, price in blocks:
        k, n = block.shape, block.times
        busy_s = price.compute_s.take(k) * n / processors
        compute_s += busy_s
        stalled_s = price.memory_s.take(k) * n
        memory_s += stalled_s
        mean = n if block.stage_share is None else n * block.stage_share
        flops_j += price.flops_j.take(k) * mean
        memory_bytes += price.memory_bytes.take(k) * mean
        if block.in_bubble:
            repeated_s += busy_s + stalled_s
        if block.stage_share is not None:
            last_compute_s += busy_s
            last_memory_s += stalled_s
        for axis in range(len(DIMENSIONS)):
            if not price.message_count[axis].any():
                continue
            columns = sums.setdefault(axis, [np.zeros(num_mappings) for _ in range(7)])
            sent = [each[axis].take(k) * n for each in (price.message_count, price.message_starts, price.message_bytes)]
            for column, value in zip(columns, sent, strict=False):
                column += value
            columns[6] += sent[2] if mean is n else price.message_bytes[axis].take(k) * mean
            if block.in_bubble:
                for column, value in zip(columns[3:6], sent, strict=True):
                    column += value
    messages = {axis: Messages(*columns) for axis, columns in sums.items()}
    return Totals(compute_s, memory_s, flops_j, memory_bytes, repeated_s, last_compute_s, last_memory_s, messages)
