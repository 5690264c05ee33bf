"""Random small workloads and mappings of them."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from costmodel.parallelism.mappings import OFFLOAD, RECOMPUTE, Mappings
from costmodel.workloads import Dlrm, NetworkTraining, TransformerInference, TransformerTraining

SMALL: dict[str, Any] = {
    "layers": 6, "hidden": 96, "heads": 8, "kv_heads": 4, "head_dim": 16, "ffn": 160, "vocabulary": 500,
}  # fmt: skip


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, Any]:
    heads = draw(st.sampled_from([4, 8, 12]))
    experts = draw(st.sampled_from([1, 1, 4, 8]))
    return SMALL | {
        "layers": draw(st.integers(1, 9)),
        "heads": heads,
        "kv_heads": draw(st.sampled_from([k for k in (1, 2, 4, heads) if heads % k == 0])),
        "experts": experts,
        "experts_per_token": draw(st.integers(1, min(experts, 4))),
        "shared_ffn": draw(st.sampled_from([0, 64])) if experts > 1 else 0,
        "gated": draw(st.booleans()),
        "tied_embeddings": draw(st.booleans()),
        "causal": draw(st.booleans()),
    }


@st.composite
def jobs(draw: st.DrawFn) -> TransformerTraining:
    return TransformerTraining(
        model=draw(shapes()),
        global_batch=draw(st.sampled_from([1, 4, 6, 16])),
        sequence=draw(st.sampled_from([1, 2, 60, 200])),
        precision=draw(st.sampled_from(["fp32", "bf16", "fp16"])),
        activation_precision=draw(st.sampled_from([None, "fp8", "bf16"])),
        gradient_precision=draw(st.sampled_from(["fp32", "fp32", "bf16"])),
        attention=draw(st.sampled_from(["fused", "unfused"])),
        interleave=(1, 2, 3),
        context=(1, 2),
        expert=(1, 2, 4),
        recompute=RECOMPUTE,
        zero=(0, 1, 2, 3),
        sequence_parallel=(False, True),
        offload=("none", *OFFLOAD, "weights+activations+optimizer"),
        uneven_stages=draw(st.booleans()),
        partial_rounds=draw(st.booleans()),
    )


def some(draw: Any, mappings: Mappings, most: int = 12) -> Mappings:
    """A few of the mappings."""
    if not len(mappings):
        return mappings
    return mappings.take(np.array(draw(st.lists(st.integers(0, len(mappings) - 1), max_size=most)), np.int64))


@st.composite
def guesses(draw: st.DrawFn) -> dict[str, Any]:
    """A draft that is free, a share of the model, or a model of its own."""
    drafts: list[dict[str, Any]] = [{}, {"draft_cost": 0.2}, {"draft_model": SMALL | {"layers": 2, "heads": 4}}]
    said = {"tokens": draw(st.integers(1, 4)), "acceptance": draw(st.sampled_from([0, 0.7, 1]))}
    return said | draw(st.sampled_from(drafts))


@st.composite
def serving_jobs(draw: st.DrawFn) -> TransformerInference:
    shape = draw(shapes())
    asks: dict[str, Any] = {}
    if shape["causal"]:
        asks = {
            "prefix_hit": draw(st.sampled_from([0, 0, 0.3, 0.99])),
            "chunk": draw(st.sampled_from([None, None, 40])),
        }
    return TransformerInference(
        model=shape,
        **asks,
        speculation=draw(st.none() | guesses()),
        precision=draw(st.sampled_from(["fp8", "bf16"])),
        kv_precision=draw(st.sampled_from(["fp8", "bf16"])),
        activation_precision=draw(st.sampled_from(["fp8", "bf16"])),
        concurrency=draw(st.integers(1, 40)),
        input_tokens=draw(st.integers(1, 300)),
        output_tokens=draw(st.integers(1, 300)),
        expert=(1, 2, 4),
    )


@st.composite
def recommenders(draw: st.DrawFn) -> Dlrm:
    table = st.fixed_dictionaries(
        {"rows": st.integers(1, 10**6), "pooling": st.integers(1, 20), "count": st.integers(1, 3)}
    )
    widths = st.lists(st.integers(1, 96), min_size=1, max_size=3)
    is_cross, dimension = draw(st.booleans()), draw(st.sampled_from([8, 32]))
    cross = {"interaction": "cross", "cross_layers": draw(st.integers(1, 3)), "cross_rank": draw(st.integers(1, 64))}
    model = {
        "dense_features": draw(st.integers(1, 20)),
        "bottom": [*draw(widths), dimension],
        "tables": draw(st.lists(table, min_size=1, max_size=3)),
        "dimension": dimension,
        "top": [*draw(widths), 1],
        "gather_efficiency": draw(st.floats(0.1, 1)),
        "index_bytes": draw(st.sampled_from([0, 4, 8])),
    }
    return Dlrm(
        mode=draw(st.sampled_from(["training", "inference"])),
        model=model | (cross if is_cross else {}),
        batch=draw(st.sampled_from([24, 64, 4096])),
        precision=draw(st.sampled_from(["fp32", "bf16"])),
        table_precision=draw(st.sampled_from(["fp32", "bf16"])),
        pooled_precision=draw(st.sampled_from([None, "bf16", "fp8"])),
    )


@st.composite
def networks(draw: st.DrawFn) -> NetworkTraining:
    """Layers in a row, or a recurrent layer."""
    model = draw(recurrent_layers() | convolutional_networks())
    return NetworkTraining(
        model=model,
        global_batch=draw(st.sampled_from([24, 48, 96])),
        precision=draw(st.sampled_from(["fp32", "bf16"])),
        cuda_graphs=draw(st.booleans()),
    )


def recurrent_layers() -> st.SearchStrategy[dict[str, Any]]:
    cells = st.sampled_from(["vanilla", "lstm", "gru"])
    return st.fixed_dictionaries(
        {"cell": cells, "hidden": st.integers(12, 40), "steps": st.integers(1, 5), "input_widths": st.integers(1, 2)}
    )


@st.composite
def convolutional_networks(draw: st.DrawFn) -> dict[str, Any]:
    then = st.sampled_from([[], ["relu"], ["norm", "relu"]])
    layers = []
    for number in range(draw(st.integers(1, 3))):
        kernel = draw(st.sampled_from([1, 3]))
        convolution = {
            "op": "convolution",
            "outputs": draw(st.integers(12, 20)),
            "kernel": kernel,
            "padding": kernel // 2,
        }
        layers.append({"name": f"conv{number}", "then": draw(then), **convolution})
        if draw(st.booleans()):
            layers.append({"name": f"pool{number}", "op": "max_pool", "kernel": 2, "stride": 2})
    if draw(st.booleans()):
        layers.append({"name": "last", "op": "linear", "outputs": draw(st.integers(12, 30)), "then": draw(then)})
    return {"name": "drawn", "source": "test", "channels": 3, "side": draw(st.sampled_from([8, 12])), "layers": layers}
