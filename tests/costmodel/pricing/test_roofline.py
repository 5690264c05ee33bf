"""Operators on a device of round numbers, and sums over a block."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.device import Device, Precision, load_device
from costmodel.kernels.gemm import gemm_curve, gemm_s
from costmodel.pricing.efficiency import Efficiency
from costmodel.pricing.opgraph import Block, Message, Operator, OpGraph, Routing
from costmodel.pricing.roofline import block_price, operator_s

DEVICE = Device.model_validate(
    {
        "name": "round",
        "capacity": "1 GB",
        "memory_bandwidth": "200 GB/s",
        "flops": {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"},
        "matrix_efficiency": 0.5,
        "memory_efficiency": 0.5,
        "launch": "1 us",
        "flop_energy": {"bf16": "2 pJ/FLOP", "fp8": "1 pJ/FLOP"},
        "memory_energy": "10 pJ/B",
        "idle": "50 W",
        "source": "round numbers for this test",
    }
)
EFFICIENCY = Efficiency(matrix=0.5, attention=0.25, memory=0.5, launch_s=1e-6)
MATRIX = Operator("matrix", "matrix", 1e9, np.array([1e3, 1e6]), 3)
COPY = Operator("copy", "elementwise", 0.0, np.array([1e5, 2e5]), 2)


def graph_of(*operators: Operator, messages: tuple[Message, ...] = (), regime="training", precision="bf16") -> OpGraph:
    """Two mappings of two shapes, each of one execution."""
    block = Block("only", operators, messages, np.arange(2), 2, np.ones(2))
    none = np.zeros(2)
    return OpGraph((block,), none, none, none, none, none, np.ones(2), precision, regime)


def test_times_by_hand() -> None:
    compute_s, memory_s, time_s = operator_s(MATRIX, DEVICE, EFFICIENCY, "bf16")
    np.testing.assert_allclose(compute_s, 20e-6)
    np.testing.assert_allclose(memory_s, [10e-9, 10e-6])
    np.testing.assert_allclose(time_s, [21e-6, 21e-6])
    np.testing.assert_allclose(operator_s(COPY, DEVICE, EFFICIENCY, "bf16")[2], [2e-6, 3e-6])


def test_attention_and_precision_have_their_own_rate() -> None:
    core = Operator("core", "attention", 1e9, 0.0)
    assert operator_s(core, DEVICE, EFFICIENCY, "bf16")[0] == pytest.approx(40e-6)
    narrow = Operator("narrow", "matrix", 1e9, 0.0, precision="fp8")
    assert operator_s(narrow, DEVICE, EFFICIENCY, "bf16")[0] == pytest.approx(10e-6)


def test_the_ridge_is_where_both_limits_meet() -> None:
    ridge_flops_per_byte = 100e12 * 0.5 / (200e9 * 0.5)
    ridge = Operator("ridge", "matrix", 1e6 * ridge_flops_per_byte, 1e6)
    compute_s, memory_s, _ = operator_s(ridge, DEVICE, EFFICIENCY, "bf16")
    assert compute_s == pytest.approx(memory_s)


@given(
    flops=st.floats(0, 1e15),
    memory_bytes=st.floats(0, 1e12),
    key=st.sampled_from(["memory_bandwidth", "flops"]),
    factor=st.floats(1, 100),
)
def test_a_faster_device_is_never_slower(flops: float, memory_bytes: float, key: str, factor: float) -> None:
    content = DEVICE.model_dump()
    faster = {name: factor * peak for name, peak in content["flops"].items()} if key == "flops" else factor * 200e9
    quick = Device.model_validate(content | {key: faster})
    operator = Operator("any", "matrix", flops, memory_bytes)
    assert operator_s(operator, quick, EFFICIENCY, "bf16")[2] <= operator_s(operator, DEVICE, EFFICIENCY, "bf16")[2]


def test_sums_of_a_block_by_hand() -> None:
    messages = (Message("a", "data", np.array([10.0, 20.0]), 0.5), Message("b", "data", 4.0, np.array([0.0, 2.0])))
    graph = graph_of(MATRIX, COPY, messages=messages)
    price = block_price(graph.blocks[0], graph, DEVICE, EFFICIENCY)
    np.testing.assert_allclose(price.compute_s, [63e-6, 63e-6])
    np.testing.assert_allclose(price.memory_s, [4e-6, 6e-6])
    np.testing.assert_allclose(price.flops_j, [6e-3, 6e-3])
    np.testing.assert_allclose(price.memory_bytes, [3e3 + 2e5, 3e6 + 4e5])
    assert price.messages.keys() == {2}
    counts, starts, sizes = price.messages[2]
    np.testing.assert_allclose(counts, [0.5, 2.5])
    np.testing.assert_allclose(starts, [0.5, 2.5])
    np.testing.assert_allclose(sizes, [5.0, 18.0])


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_serving_prices_products_by_measured_kernels(precision: Precision) -> None:
    h100 = load_device("h100-sxm")
    if not gemm_curve(h100, precision)[1]:
        pytest.skip(f"no products in {precision} were measured on {h100.name}")
    product = Operator("product", "matrix", 2.0 * 64 * 4096 * 1024, 1e7, 3.0, (64, 4096, 1024))
    serving, training = (graph_of(product, regime=regime, precision=precision) for regime in ("inference", "training"))
    measured = block_price(serving.blocks[0], serving, h100, EFFICIENCY)
    curve = gemm_curve(h100, precision)[0].with_fused_quantization()
    expected = 3 * gemm_s(64, 4096, 1024, h100, precision, curve)
    np.testing.assert_allclose(measured.compute_s + measured.memory_s, expected)
    roofline = block_price(training.blocks[0], training, h100, EFFICIENCY)
    assert np.all(roofline.compute_s + roofline.memory_s != expected)


def test_a_precision_without_matrix_units_is_refused() -> None:
    with pytest.raises(ValueError, match="does not run fp8"):
        operator_s(Operator("matrix", "matrix", 1.0, 1.0), load_device("a100-sxm"), EFFICIENCY, "fp8")


def test_products_that_run_together_move_all_their_operands() -> None:
    """As long as one product of all their rows, unless the operands of so many take longer."""
    h100 = load_device("h100-sxm")
    one = Operator("one", "matrix", 1e9, 1e6, 1.0, (4096, 512, 1024))
    for moved_bytes, is_bound in ((1e6, False), (1e10, True)):
        group = replace(one, memory_bytes=moved_bytes, products=8.0)
        graphs = [graph_of(each, regime="inference") for each in (one, group)]
        alone, together = (block_price(graph.blocks[0], graph, h100, EFFICIENCY) for graph in graphs)
        expected = moved_bytes / (0.5 * h100.memory_bytes_per_s) if is_bound else alone.compute_s + alone.memory_s
        np.testing.assert_allclose(together.compute_s + together.memory_s, expected)


def test_a_host_that_waits_for_routing_does_not_run_ahead() -> None:
    """Work of 100 us hides the launches of others, not those of 50 kernels of experts, which no graph records."""
    busy = Operator("busy", "elementwise", 0.0, 100e-6 * 100e9)
    experts = Operator("experts", "elementwise", 0.0, 10e-6 * 100e9, kernels=50)
    cases: list[tuple[Routing, float, float]] = [
        ("none", 1.0, 110e-6), ("known", 1.0, 110e-6), ("awaited", 1.0, 150e-6),
        ("none", 0.0, 110e-6), ("known", 0.0, 110e-6), ("awaited", 0.0, 150e-6),
    ]  # fmt: skip
    for routing, launch_share, expected in cases:
        graph = graph_of(busy, replace(experts, routing=routing))
        graph = replace(graph, runs_ahead=True, launch_share=launch_share)
        price = block_price(graph.blocks[0], graph, DEVICE, EFFICIENCY)
        np.testing.assert_allclose(price.compute_s + price.memory_s, expected)
    many = replace(graph_of(replace(experts, routing="known")), runs_ahead=True, launch_share=0.0)
    price = block_price(many.blocks[0], many, DEVICE, EFFICIENCY)
    np.testing.assert_allclose(price.memory_s, 50e-6)


def test_a_host_between_two_micro_batches_never_runs_ahead() -> None:
    """Whatever was routed is started while the device waits, forward and backward, recorded or not."""
    busy = Operator("busy", "elementwise", 0.0, 100e-6 * 100e9)
    experts = Operator("experts", "elementwise", 0.0, 10e-6 * 100e9, kernels=50)
    for routing, expected in (("none", 110e-6), ("known", 160e-6), ("awaited", 160e-6)):
        graph = replace(graph_of(busy, replace(experts, routing=routing)), runs_ahead=True, awaits_all=True)  # type: ignore[arg-type]
        price = block_price(graph.blocks[0], graph, DEVICE, EFFICIENCY)
        np.testing.assert_allclose(price.compute_s + price.memory_s, expected)


def test_only_narrow_products_are_held_to_their_share() -> None:
    h100 = load_device("h100-sxm")
    product = Operator("product", "matrix", 1e12, 1e6, 1.0, (8192, 8192, 8192))
    for precision, is_slower in (("fp8", True), ("bf16", False)):
        graph = replace(graph_of(product), precision=precision)  # type: ignore[arg-type]
        free, held = (
            block_price(each.blocks[0], each, h100, EFFICIENCY.model_copy(update={"matrix": 0.8}))
            for each in (graph, replace(graph, narrow_share=0.4))
        )
        assert bool(held.compute_s[0] > 1.5 * free.compute_s[0]) is is_slower
