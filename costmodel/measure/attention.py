"""Attention with grouped heads: prefill of whole prompts, and decoding one token against cached keys and values."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

from costmodel.measure.table import Case, Cell, Plan

HEAD_DIM = 128
QUICK_HEADS = ((8, 1), (32, 8), (32, 32), (64, 8))
FULL_HEADS = (
    (4, 1),
    (8, 1),
    (12, 4),
    (16, 2),
    (16, 16),
    (32, 4),
    (32, 8),
    (32, 32),
    (48, 8),
    (64, 8),
    (96, 8),
    (96, 96),
)
"""query heads, key and value heads"""
QUICK_BATCH, FULL_BATCH = (1, 4, 16, 64), (1, 2, 4, 8, 16, 32, 64, 128)
QUICK_PROMPT, FULL_PROMPT = (64, 512, 2048, 8192), (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
QUICK_CACHED, FULL_CACHED = (63, 1023, 4095, 16383), (1, 15, 63, 255, 511, 1023, 2047, 4095, 8191, 16383, 32767)
MAX_PROMPT_TOKENS, MAX_CACHED_TOKENS = 2**16, 2**20
"""tokens of a batch"""


def prefill_plan(*, is_quick: bool) -> Plan:
    """Causal attention of `isl` tokens of each sequence with themselves."""
    sizes = (QUICK_BATCH, QUICK_PROMPT, QUICK_HEADS) if is_quick else (FULL_BATCH, FULL_PROMPT, FULL_HEADS)
    shapes = [(batch, tokens, heads) for batch, tokens, heads in product(*sizes) if batch * tokens <= MAX_PROMPT_TOKENS]
    cases = (_case(batch, tokens, 0, tokens, *heads) for batch, tokens, heads in shapes)
    return Plan("attention_context", list(cases))


def decode_plan(*, is_quick: bool) -> Plan:
    """One new token of each sequence against `step` cached tokens and itself."""
    sizes = (QUICK_BATCH, QUICK_CACHED, QUICK_HEADS) if is_quick else (FULL_BATCH, FULL_CACHED, FULL_HEADS)
    return Plan("attention_generation", list(_decode_cases(sizes)))


def _decode_cases(sizes: tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]) -> Iterator[Case]:
    for batch, cached, heads in product(*sizes):
        if batch * (cached + 1) <= MAX_CACHED_TOKENS:
            yield _case(batch, 1, cached, 1, *heads)


def _case(batch: int, isl: int, step: int, num_queries: int, num_heads: int, num_kv_heads: int) -> Case:
    row: dict[str, Cell] = {
        "attn_dtype": "bfloat16",
        "kv_cache_dtype": "bfloat16",
        "batch_size": batch,
        "isl": isl,
        "step": step,
        "num_heads": num_heads,
        "num_key_value_heads": num_kv_heads,
        "head_dim": HEAD_DIM,
    }
    tokens = isl + step
    elements = batch * HEAD_DIM * (2 * num_queries * num_heads + 2 * tokens * num_kv_heads)
    return Case(row, 3.0 * elements, partial(prepare, batch, num_queries, tokens, num_heads, num_kv_heads))


def prepare(batch: int, num_queries: int, tokens: int, num_heads: int, num_kv_heads: int) -> Callable[[], Any]:
    """Attention of `num_queries` new tokens of each sequence with `tokens`, causal where there are several."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    def normal(heads: int, length: int) -> Any:
        return torch.empty(batch, heads, length, HEAD_DIM, dtype=torch.bfloat16, device="cuda").normal_()

    query, key, value = normal(num_heads, num_queries), normal(num_kv_heads, tokens), normal(num_kv_heads, tokens)
    backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]
    options = {"is_causal": num_queries > 1, "enable_gqa": num_heads != num_kv_heads}

    def run() -> Any:
        with sdpa_kernel(backends):
            return scaled_dot_product_attention(query, key, value, **options)

    return run
