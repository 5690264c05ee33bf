"""What training executes beside plain layers: further tokens, narrow scales, latents made again."""

from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.parallelism.mappings import RECOMPUTE, Mappings
from costmodel.pricing.opgraph import OpGraph
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.shapes import load_model

H100 = load_device("h100-sxm")
TOKENS = 8 * 2048


def graph(model: Any = "llama-3.1-8b", mapping: dict[str, int] | None = None, **fields: Any) -> OpGraph:
    job = TransformerTraining.model_validate({"model": model, "global_batch": 8, "sequence": 2048, **fields})
    return job.op_graph(Mappings.of(**{"data": 1, "micro_batch": 1, **(mapping or {})}), H100)


def test_a_module_for_a_further_token_is_a_layer_a_matrix_and_the_vocabulary() -> None:
    shape = load_model("llama-3.1-8b")
    deeper = shape.model_copy(update={"layers": shape.layers + 1})
    plain, ahead, one_more = (float(g.flops[0]) for g in (graph(), graph(multi_token_prediction=1), graph(deeper)))
    joined, vocabulary = (3 * 2 * TOKENS * shape.hidden * width for width in (2 * shape.hidden, shape.vocabulary))
    assert ahead - plain == pytest.approx(one_more - plain + joined + vocabulary)
    job = TransformerTraining(model="llama-3.1-8b", global_batch=8, sequence=2048, multi_token_prediction=1)
    without = job.model_copy(update={"multi_token_prediction": 0})
    core = 3 * 2 * 2 * 1024 * shape.query_dim
    more = job.flops_per_work - without.flops_per_work
    attention = (one_more - plain) / TOKENS - 7 / 6 * core
    assert more == pytest.approx((joined + vocabulary) / TOKENS + attention + core)


def test_modules_lie_on_the_last_stage_which_has_fewer_layers() -> None:
    """61 layers on 16 stages: 15 of four, and one, so that the module's exchanges are no more than other stages'."""
    mapping = {"pipeline": 16, "data": 2, "expert": 2}
    plain, ahead = (graph("deepseek-v3", mapping, multi_token_prediction=n) for n in (0, 1))
    assert (plain.relief[0], ahead.relief[0]) == (pytest.approx(1 / 4), pytest.approx(3 / 4))
    even = {"pipeline": 4, "data": 2, "expert": 2}
    shape = load_model("deepseek-v3").model_copy(update={"layers": 60})
    for model, columns, exchanges in (("deepseek-v3", mapping, 0.0), (shape, even, 4.0)):
        block = next(b for b in graph(model, columns, multi_token_prediction=1).blocks if "exchanges" in b.name)
        assert block.times[0] == exchanges
    without, with_one = (graph(shape, even, multi_token_prediction=n).footprint_bytes[0] for n in (0, 1))
    assert with_one > without


def test_scales_of_small_blocks_cost_traffic_of_casts_alone() -> None:
    def casts(**fields: Any) -> tuple[float, float]:
        each = list(graph("mixtral-8x7b", **fields).operators_of(0))
        return tuple(
            sum(moved * count for _, o, _, moved, count in each if o.name.endswith("casts") is is_cast)
            for is_cast in (True, False)
        )  # type: ignore[return-value]

    tensor, mx = casts(precision="fp8"), casts(precision="fp8", scaling="mx")
    assert mx[0] == pytest.approx(2.5 * tensor[0])
    assert mx[1] == tensor[1]
    assert casts(scaling="mx") == casts()


def test_kernels_that_scale_sums_reach_less() -> None:
    shares = [graph(precision="fp8", scaling=scaling).narrow_share for scaling in ("tensor", "mx", "block")]
    assert shares == [1.0, 1.0, pytest.approx(0.783, abs=1e-3)]


def test_selective_recomputation_makes_latents_keys_and_values_again() -> None:
    """Beside a fused core: less is kept, more is done; where keys are projected at once nothing is."""
    for model, changes in (("deepseek-v3", True), ("llama-3.1-8b", False)):
        plain, again = (
            graph(model, {"recompute": RECOMPUTE.index(name)}, recompute=name) for name in ("none", "selective")
        )
        assert bool(again.flops[0] > plain.flops[0]) is changes
        assert bool(again.footprint_bytes[0] < plain.footprint_bytes[0]) is changes
    shape = load_model("deepseek-v3")
    into = shape.query_rank * (shape.head_dim + shape.rope_dim) + shape.kv_rank * 2 * shape.head_dim
    made = 2 * TOKENS * shape.layers * shape.heads * into
    plain, again = (graph("deepseek-v3", {"recompute": i}, recompute=RECOMPUTE[i]) for i in (0, 1))
    np.testing.assert_allclose(again.flops - plain.flops, made)
