"""Candidates by stated rules against a scalar oracle, and against what must hold whatever the numbers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.serving.kernel_rules import KernelRules
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.shapes import load_model
from tests.oracles.inference import pass_time

H100 = load_device("h100-sxm").model_copy(update={"capacity_bytes": 1e15, "flops_per_s": {"fp8": 300e12}})
STATED: dict[str, Any] = {
    "memory_efficiency": 0.9, "memory_ramp_bytes": 1e7, "matrix_efficiency": 0.8, "matrix_ramp_flops": 2e9,
    "all_reduce_start_s": 2e-5, "link_efficiency": 0.7, "layer_overhead_s": 3e-6,
}  # fmt: skip
LINKS = {
    "gpus_per_server": 16, "nvlink_bandwidth_bytes_per_s": 400e9, "network_bandwidth_bytes_per_s": 50e9,
    "network_alpha_s": 0.0, "nvlink_alpha_s": 0.0,
}  # fmt: skip


def priced(
    job: TransformerInference, device: Device = H100, *, tensor: int = 1, pipeline: int = 1
) -> tuple[float, float]:
    """Time to the first token and between two tokens, of one replica."""
    far = {"gpus_per_server": tensor} if pipeline > 1 else {}
    fabric = fat_tree_of(system_of("h100-sxm").model_copy(update=LINKS | far), tensor * pipeline)
    mapping = Mappings.of(tensor=[tensor], pipeline=[pipeline], micro_batch=job.concurrency)
    rows = list_candidates(job, mapping, device, fabric, blocks=widest_block)
    prices = score(rows, device, fabric)
    best = int(prices.step_s.argmin())
    assert prices.speed[best] == pytest.approx(
        job.concurrency * job.output_tokens / (prices.ttft_s[best] + (job.output_tokens - 1) * prices.tpot_s[best])
    )
    return float(prices.ttft_s[best]), float(prices.tpot_s[best])


def job(rules: KernelRules, batch: int, tokens_in: int, tokens_out: int, **fields: Any) -> TransformerInference:
    usual = {"model": "llama-3.1-8b", "precision": "fp8", "kv_precision": "fp16", "batching": "static"}
    return TransformerInference(
        kernel_rules=rules, concurrency=batch, input_tokens=tokens_in, output_tokens=tokens_out,
        **usual | fields,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    tensor=st.sampled_from([1, 2, 8, 16]), overlap=st.booleans(), fused=st.booleans(), residuals=st.booleans(),
    causal=st.booleans(), linked=st.booleans(), batch=st.integers(1, 300), tokens=st.integers(1, 3000),
    name=st.sampled_from(["llama-3.1-8b", "gpt3-175b"]),
)  # fmt: skip
def test_passes_are_those_of_the_oracle(
    tensor: int, overlap: bool, fused: bool, residuals: bool, causal: bool, linked: bool, batch: int, tokens: int,
    name: str,
) -> None:  # fmt: skip
    """A prefill, and the decode step of the second of two tokens."""
    rules = KernelRules(
        **STATED, overlaps_memory=overlap, fuses_attention=fused, fuses_residuals=residuals, skips_masked=causal,
        all_reduces=linked,
    )  # fmt: skip
    plain = {
        "w": 1, "kv": 2, "a": 2, "em": 0.9, "s0": 1e7, "ec": 0.8, "f0": 2e9, "start": 2e-5, "en": 0.7, "tau": 3e-6,
        "overlap": overlap, "fused": fused, "residuals_fused": residuals, "causal": causal,
    }  # fmt: skip
    rank = {
        "flops": 300e12, "memory": H100.memory_bytes_per_s, "tensor": tensor, "link": 400e9 if linked else None,
        "stages": 1, "stage_link": 50e9,
    }  # fmt: skip
    found = priced(job(rules, batch, tokens, 2, model=name), tensor=tensor)
    shape = load_model(name).model_dump()
    assert found[0] == pytest.approx(pass_time(shape, rank, plain, batch, tokens, 0), rel=1e-12)
    assert found[1] == pytest.approx(pass_time(shape, rank, plain, batch, 1, tokens), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    batch=st.integers(1, 20), stages=st.sampled_from([1, 2, 4]), tokens_in=st.integers(1, 300),
    tokens_out=st.integers(1, 40),
)  # fmt: skip
def test_requests_are_a_loop_over_tokens_and_stages(batch: int, stages: int, tokens_in: int, tokens_out: int) -> None:
    """Batches in as many micro-batches as stages, or one for each sequence; every token is decoded."""
    rules = KernelRules(memory_efficiency=0.9, first_token_is_decoded=True, vocabulary=False)
    plain = {
        "w": 1, "kv": 2, "a": 2, "em": 0.9, "s0": 0, "ec": 1, "f0": 0, "start": 0, "en": 1, "tau": 0,
        "overlap": True, "fused": True, "residuals_fused": True, "causal": True,
    }  # fmt: skip
    rank = {
        "flops": 300e12, "memory": H100.memory_bytes_per_s, "tensor": 1, "link": None, "stages": stages,
        "stage_link": 50e9,
    }  # fmt: skip
    shape = load_model("llama-3.1-8b").model_dump() | {"vocabulary": 0}
    parts = min(batch, stages)

    def stage_s(new: int, past: int) -> float:
        head_s = 2 * 2 * batch / parts * shape["hidden"] / (0.9 * H100.memory_bytes_per_s)
        weightless_s = 2 * batch / parts * shape["hidden"] / (0.9 * H100.memory_bytes_per_s)
        return (pass_time(shape, rank, plain, batch / parts, new, past) - head_s - weightless_s) / stages

    prefill_s = (parts + stages - 1) * stage_s(tokens_in, 0)
    steps_s = [max(parts, stages) * stage_s(1, tokens_in + k) for k in range(tokens_out)]
    first_s, token_s = priced(job(rules, batch, tokens_in, tokens_out, pipeline=stages), pipeline=stages)
    # a token is that of the mean context: steps grow evenly where one thing binds them
    assert first_s + (tokens_out - 1) * token_s == pytest.approx(prefill_s + sum(steps_s), rel=1e-4)


def test_decode_of_one_layer_is_weights_and_cache_over_bandwidth() -> None:
    """The closed form (24 d^2 / TP + 32 context d / TP) / bandwidth + overhead of a GPT at batch 8."""
    rules, shape = KernelRules(layer_overhead_s=89e-6, all_reduces=False, vocabulary=False), load_model("gpt3-175b")
    device = H100.model_copy(update={"memory_bytes_per_s": 2e12, "flops_per_s": {"fp16": 300e12}})
    for context in (1024, 4096, 16384):
        one = job(rules, 8, context, 2, model="gpt3-175b", precision="fp16")
        found = priced(one, device, tensor=8)[1] / shape.layers
        expected = (24 * shape.hidden**2 / 8 + 32 * context * shape.hidden / 8) / 2e12 + 89e-6
        assert found == pytest.approx(expected, rel=0.01)


@settings(max_examples=60, deadline=None)
@given(
    batch=st.integers(1, 200), tokens_in=st.integers(1, 2000), tensor=st.sampled_from([1, 8]),
    pipeline=st.sampled_from([1, 2, 4]), share=st.floats(0.1, 1.0),
)  # fmt: skip
def test_more_work_takes_longer_and_better_kernels_less(
    batch: int, tokens_in: int, tensor: int, pipeline: int, share: float
) -> None:
    degrees = {"tensor": tensor, "pipeline": pipeline}

    def times(rules: KernelRules, more: int = 0, device: Device = H100) -> np.ndarray:
        one = job(rules, batch, tokens_in + more, 2, pipeline=pipeline)
        return np.array(priced(one, device, **degrees))

    base = times(KernelRules(**STATED))
    assert np.all(times(KernelRules(**STATED), more=1) > base)
    faster = H100.model_copy(update={"memory_bytes_per_s": H100.memory_bytes_per_s / share})
    assert np.all(times(KernelRules(**STATED), device=faster) <= base)
    assert np.all(times(KernelRules(**STATED | {"memory_efficiency": 0.9 * share})) >= base)
    assert np.all(times(KernelRules(**STATED | {"layer_overhead_s": 3e-6 + share})) > base)
    serial = times(KernelRules(**STATED, overlaps_memory=False))
    assert np.all((base <= serial) & (serial <= 2 * base))


def test_options_of_static_batches() -> None:
    rules = KernelRules(first_token_is_decoded=True)
    with pytest.raises(ValidationError, match=r"kernel_rules.first_token_is_decoded: is an option of static batches"):
        job(rules, 1, 10, 10, batching="continuous")
    with pytest.raises(ValidationError, match=r"pipeline: is an option of static batches; add `batching: static`"):
        job(KernelRules(), 1, 10, 10, batching="continuous", pipeline=(1, 2))


def test_rules_hold_for_continuous_batches_too() -> None:
    """One user never waits: both ways of batching give the same times."""
    rules = KernelRules(**STATED)
    assert priced(job(rules, 1, 100, 50, batching="continuous")) == pytest.approx(priced(job(rules, 1, 100, 50)))
