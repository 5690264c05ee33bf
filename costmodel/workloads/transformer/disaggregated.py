"""Disaggregated serving: a pool of replicas that runs prompts, one that runs tokens, and the caches between them.

How many accelerators each pool has, and its tensor and expert degrees, are searched. Source of the idea:
Zhong et al. 2024, DistServe (arXiv:2401.09670); Patel et al. 2024, Splitwise (arXiv:2311.18677).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.degrees import every_mapping
from costmodel.parallelism.mappings import Bools, Floats, Mappings
from costmodel.pricing.opgraph import Block, Message, Shapes
from costmodel.serving.closed_loop import Load
from costmodel.serving.two_pools import TwoPools
from costmodel.workloads.transformer.lengths import Lengths

Numbers = tuple[int, ...]
Table = dict[str, NDArray[np.int32]]


@dataclass(frozen=True)
class Pinned:
    """What a user says of the pools; None where the planner chooses."""

    accelerators: Numbers | None
    """of the pool of prompts"""
    prefill_tensor: Numbers | None
    prefill_expert: Numbers | None
    decode_tensor: Numbers | None


def pool_mappings(
    degrees: Table, num_devices: int, tensor: Sequence[int], menus: Mapping[str, Sequence[int]]
) -> Mappings:
    """Every division of a job into two pools, a replica at least in either: those with equal degrees, which are the
    rows of `degrees`, then those with degrees of their own, among these of `tensor` and of the menus."""
    alike = every_mapping(_equal(degrees), {name: menu for name, menu in menus.items() if name != "prefill_expert"})
    own = every_mapping(_different(num_devices, tensor), menus)
    is_other = (own.prefill_tensor != own.tensor) | (own.prefill_expert != own.expert)
    return Mappings.concatenate([alike, own.take(is_other)])


def _equal(degrees: Table) -> Table:
    """Each row of degrees with each number of its replicas in the pool of prompts."""
    splits = degrees["data"] - 1
    rows = np.repeat(np.arange(len(splits)), splits)
    first = np.cumsum(splits) - splits
    prefill = 1 + np.arange(len(rows)) - np.repeat(first, splits)
    return {name: column[rows] for name, column in degrees.items()} | {"prefill": prefill.astype(np.int32)}


def _different(size: int, tensor: Sequence[int]) -> Table:
    """Tensor degrees of which one divides the other, each pool having whole blocks of the wider one."""
    rows = [
        (tokens, first // prompts + (size - first) // tokens, first // prompts, prompts)
        for prompts in tensor
        for tokens in tensor
        if max(prompts, tokens) % min(prompts, tokens) == 0 == size % max(prompts, tokens)
        for first in range(max(prompts, tokens), size, max(prompts, tokens))
    ]
    table = np.array(rows, np.int32).reshape(-1, 4)
    return {name: table[:, i] for i, name in enumerate(("tensor", "data", "prefill", "prefill_tensor"))}


def suits_pools(m: Mappings, experts: int, pinned: Pinned) -> Bools:
    """Which mappings have whole experts on each rank, groups of experts within a pool, and the sizes and degrees that
    the user says, shape (M,)."""
    first = m.of_prompts()
    tensor, expert = first.tensor.astype(np.int64), first.expert.astype(np.int64)
    prefill = m.prefill.astype(np.int64)
    is_whole = (experts % expert == 0) & (experts % m.expert.astype(np.int64) == 0)
    suits = is_whole & (prefill % expert == 0) & ((m.data - prefill) % m.expert == 0)
    asked = (
        (prefill * tensor, pinned.accelerators), (tensor, pinned.prefill_tensor), (expert, pinned.prefill_expert),
        (m.tensor, pinned.decode_tensor),
    )  # fmt: skip
    for numbers, allowed in asked:
        if allowed is not None:
            suits &= np.isin(numbers, allowed)
    return np.asarray(suits)


def of_prompts(shapes: Shapes) -> Shapes:
    """The same shapes with the degrees of replicas that run prompts."""
    has_own = shapes.columns["prefill_tensor"] > 0
    names = ("tensor", "expert")
    own = {name: np.where(has_own, shapes.columns[f"prefill_{name}"], shapes.columns[name]) for name in names}
    return replace(shapes, columns=shapes.columns | own)


def pools_of(mappings: Mappings, load: Load, users: Floats) -> TwoPools:
    prefill, size = mappings.prefill.astype(np.float64), mappings.num_devices.astype(np.float64)
    prompts, tokens = mappings.of_prompts().tensor, mappings.tensor
    shares = {"prefill": prompts / size, "transfer": np.maximum(prompts, tokens) / size, "decode": tokens / size}
    return TwoPools(load, users, prefill, mappings.data - prefill, shares)


def transfer_block(shapes: Shapes, token_bytes: Floats, lengths: Lengths) -> Block:
    """The cache of a prompt goes from each rank of a replica to its fellows in the other pool: `token_bytes`, (K,), are
    those of a token that a rank of tokens needs, which come from so many ranks at once as run prompts for it."""
    once = np.broadcast_to(1 / np.asarray(lengths.output_tokens), (len(shapes),))[shapes.of]
    cache_bytes = token_bytes * lengths.new_tokens
    prompts, tokens = of_prompts(shapes).columns["tensor"], shapes.columns["tensor"]
    message = Message("cache of a prompt", "data", cache_bytes / np.maximum(prompts / tokens, 1.0))
    return shapes.phase_block("transfer", "transfer", [], [message], 1.0, once)
