"""Steps of an engine on a small model, every operator counted by hand."""

from typing import Any

import numpy as np
import pytest

from costmodel.pricing.opgraph import Block, Operator, Shapes
from costmodel.workloads.transformer.passes import Pass, Passes
from costmodel.workloads.transformer.shapes import TransformerShape

SMALL: dict[str, Any] = {
    "layers": 3, "hidden": 64, "heads": 8, "kv_heads": 2, "head_dim": 16, "ffn": 192, "gated": True, "vocabulary": 1000,
}  # fmt: skip
INPUTS, CONTEXT = 50.0, 100.0


def blocks_of(
    running: Any, prompts: Any, *, tensor: Any = 1.0, precision: Any = "bf16", kv: Any = "bf16", **changes: Any
) -> list[Block]:
    """Of one step of the phase `mixed` that is taken seven times."""
    columns = np.broadcast_arrays(*(np.asarray(x, np.float64).reshape(-1) for x in (running, prompts, tensor)))
    shape, num = TransformerShape(**SMALL | changes), len(columns[0])
    passes = Passes(shape, columns[2], np.ones(num), precision, "bf16", kv, INPUTS, CONTEXT)
    shapes = Shapes({"tensor": columns[2]}, np.arange(num), num)
    return passes.blocks(Pass("mixed", *columns[:2]), shapes, np.full(num, 7.0))


def cores(blocks: list[Block]) -> dict[str, Operator]:
    return {o.name.removeprefix("attention of "): o for o in blocks[0].operators if o.kind == "attention"}


def test_layers_are_repeated_and_the_vocabulary_is_not() -> None:
    layers, vocabulary = blocks_of(3, 2)
    assert [(b.name, b.phase, b.times_in_phase) for b in (layers, vocabulary)] == [
        ("mixed layers", "mixed", 3.0), ("mixed vocabulary", "mixed", 1.0),
    ]  # fmt: skip
    assert (layers.times.tolist(), vocabulary.times.tolist()) == ([21.0], [7.0])


@pytest.mark.parametrize("tensor", [1, 2])
def test_each_sequence_gets_one_token_in_bf16(tensor: int) -> None:
    (product,) = blocks_of(3, 2, tensor=tensor, precision="fp8")[1].operators
    width = 1000 / tensor
    assert product.precision == "bf16"
    np.testing.assert_array_equal(product.flops, 2 * 5 * 64 * width)
    np.testing.assert_array_equal(product.memory_bytes, 2 * (64 * width + 5 * 64 + 5 * width))


def test_attention_by_hand() -> None:
    """Two ranks: each has four heads of queries and one of keys and values, 16 wide."""
    found = cores(blocks_of(3, 2, tensor=2))
    assert found["tokens"].flops == 4 * 3 * CONTEXT * 4 * 16
    assert found["tokens"].memory_bytes == 3 * CONTEXT * 2 * 2 * 16 + 3 * 2 * 2 * 64
    assert found["prompts"].flops == 4 * 2 * INPUTS * (INPUTS + 1) / 2 * 4 * 16
    assert found["prompts"].memory_bytes == 2 * INPUTS * 2 * 2 * 16 + 2 * INPUTS * 2 * 2 * 64
    assert cores(blocks_of(0, 2, tensor=2, causal=False))["prompts"].flops == 4 * 2 * INPUTS**2 * 4 * 16


def test_ranks_beyond_the_heads_of_keys_hold_one_each() -> None:
    read = cores(blocks_of(3, 0, tensor=[2, 8]))["tokens"].memory_bytes - 3 * 2 * 2 * 128 / np.array([2, 8])
    assert read[0] == read[1] == 3 * CONTEXT * 2 * 2 * 16


def test_what_no_step_has_is_absent_and_what_some_lack_is_not_executed() -> None:
    assert [*cores(blocks_of(3, 0))] == ["tokens"]
    assert [*cores(blocks_of([0, 0], [1, 2]))] == ["prompts"]
    some = cores(blocks_of([0, 4], [1, 0]))
    assert (np.asarray(some["tokens"].count).tolist(), np.asarray(some["prompts"].count).tolist()) == ([0, 1], [1, 0])


def test_attention_is_narrow_only_where_its_cache_is() -> None:
    for precision, kv, runs in (("fp8", "bf16", "bf16"), ("fp8", "fp8", "fp8"), ("bf16", "fp8", "bf16")):
        both = cores(blocks_of(3, 2, precision=precision, kv=kv)).values()
        assert {o.precision for o in both} == {runs}


def test_tokens_and_prompts_in_one_step_do_the_work_of_both() -> None:
    """And read the weights once less: 64 x (128 + 2 x 32) + 128 x 64 of attention, 3 x 64 x 192 of the network."""
    mixed, tokens, prompts = ([b.flops for b in blocks_of(*each)] for each in ((3, 2), (3, 0), (0, 2)))
    np.testing.assert_allclose(mixed, np.add(tokens, prompts))
    read = [blocks_of(*each)[0].memory_bytes[0] for each in ((3, 2), (3, 0), (0, 2))]
    assert read[1] + read[2] - read[0] == 2 * (64 * 192 + 128 * 64 + 3 * 64 * 192)


def test_two_all_reduces_of_all_tokens() -> None:
    (message,) = blocks_of(3, 2, tensor=[1, 2])[0].messages
    assert np.asarray(message.count).tolist() == [0, 2]
    np.testing.assert_array_equal(message.message_bytes, 2 * 64 * (3 + 2 * INPUTS))


@pytest.mark.parametrize(("precision", "there"), [("fp8", 1.0), ("bf16", 2.0)])
def test_tokens_alone_go_straight_to_each_expert(precision: str, there: float) -> None:
    """A step of tokens sends four copies, in the precision of the products; one with prompts two, to groups."""
    routed = {"experts": 8, "experts_per_token": 4, "expert_groups": 4, "groups_per_token": 2}
    for prompts, tokens, copies, sent in ((0, 3, 4, there), (2, 3 + 2 * INPUTS, 2, 2.0)):
        layers = blocks_of(3, prompts, precision=precision, **routed)[0]
        message = next(m for m in layers.messages if m.dimension == "expert")
        np.testing.assert_allclose(message.message_bytes, (sent + 2) / 2 * tokens * copies * 64)
