"""Disaggregated serving: a pool of replicas that runs prompts, one that runs tokens, and the caches between them.

All replicas have the same tensor and expert degrees; how many of them run prompts is searched. Source of the idea:
Zhong et al. 2024, DistServe (arXiv:2401.09670); Patel et al. 2024, Splitwise (arXiv:2311.18677).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import Bools, Floats, Mappings
from costmodel.pricing.opgraph import Block, Message, Shapes
from costmodel.serving.closed_loop import Load
from costmodel.serving.two_pools import TwoPools


def with_pools(degrees: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.int32]]:
    """Each row of degrees with each number of its replicas in the pool of prompts, one at least in either pool."""
    splits = degrees["data"] - 1
    rows = np.repeat(np.arange(len(splits)), splits)
    first = np.cumsum(splits) - splits
    prefill = 1 + np.arange(len(rows)) - np.repeat(first, splits)
    return {name: column[rows] for name, column in degrees.items()} | {"prefill": prefill.astype(np.int32)}


def suits_pools(m: Mappings, accelerators: int | tuple[int, ...] | None) -> Bools:
    """Which mappings have groups of experts within a pool, and for prompts as many accelerators as the user says,
    shape (M,)."""
    prefill = m.prefill.astype(np.int64)
    return np.asarray((prefill % m.expert == 0) & (accelerators is None or np.isin(prefill * m.tensor, accelerators)))


def pools_of(mappings: Mappings, load: Load, users: Floats) -> TwoPools:
    prefill = mappings.prefill.astype(np.float64)
    return TwoPools(load, users, prefill, mappings.data - prefill)


def transfer_block(shapes: Shapes, cache_bytes: Floats, output_tokens: int) -> Block:
    """The cache of a prompt goes from each rank of a replica to its fellow in the other pool: `cache_bytes`, (K,)."""
    once = np.full(len(shapes.of), 1 / output_tokens)
    return shapes.phase_block(
        "transfer", "transfer", [], [Message("cache of a prompt", "data", cache_bytes)], 1.0, once
    )
