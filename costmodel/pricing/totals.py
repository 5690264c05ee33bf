"""What each mapping computes and sends in a step, whatever its collectives: sums over the blocks of a graph."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costmodel.parallelism.mappings import Floats, Ints
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

    @property
    def is_repeated(self) -> bool:
        """Whether any is inside a bubble."""
        return bool(self.repeated_count.any())


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
    of_mappings: dict[tuple[int, int], _OfMappings] = {}
    for block, price in blocks:
        key, n = (id(price), id(block.shape)), block.times
        if key not in of_mappings:
            of_mappings[key] = _OfMappings(price, block.shape)
        each = of_mappings[key]
        busy_s = each.compute_s * n / processors
        compute_s += busy_s
        stalled_s = each.memory_s * n
        memory_s += stalled_s
        mean = n if block.stage_share is None else n * block.stage_share
        flops_j += each.flops_j * mean
        memory_bytes += each.memory_bytes * mean
        if block.in_bubble:
            repeated_s += busy_s + stalled_s
        if block.stage_share is not None:
            last_compute_s += busy_s
            last_memory_s += stalled_s
        for axis, columns in each.messages.items():
            if axis not in sums:
                sums[axis] = [np.zeros(num_mappings) for _ in range(7)]
            _add(sums[axis], columns, block, mean)
    messages = {axis: Messages(*columns) for axis, columns in sums.items()}
    return Totals(compute_s, memory_s, flops_j, memory_bytes, repeated_s, last_compute_s, last_memory_s, messages)


def _add(sums: list[Floats], columns: tuple[Floats, ...], block: Block, mean: Floats) -> None:
    """Messages along an axis, as often as each mapping executes the block, to the columns of Messages."""
    sent = [column * block.times for column in columns]
    for total, value in zip(sums, sent, strict=False):
        total += value
    sums[6] += sent[2] if mean is block.times else columns[2] * mean
    if block.in_bubble:
        for total, value in zip(sums[3:6], sent, strict=True):
            total += value


class _OfMappings:
    """Price of one execution of a block by mapping, columns of shape (M,): of one that several blocks share once."""

    def __init__(self, price: BlockPrice, shape: Ints) -> None:
        self.price = price
        self.compute_s, self.memory_s, self.flops_j, self.memory_bytes = (
            column.take(shape) for column in (price.compute_s, price.memory_s, price.flops_j, price.memory_bytes)
        )
        self.messages = {axis: tuple(each.take(shape) for each in sent) for axis, sent in price.messages.items()}
