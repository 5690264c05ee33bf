import numpy as np
import pytest

from costmodel import energy
from costmodel.hardware import Device, load_device
from costmodel.opgraph import Message, Operator, OpGraph
from costmodel.roofline import operator_s


@pytest.fixture
def device() -> Device:
    return Device.model_validate(
        {
            "name": "round",
            "capacity": "1 GB",
            "memory_bandwidth": "200 GB/s",
            "flops": {"bf16": "100 TFLOP/s"},
            "matrix_efficiency": 0.5,
            "memory_efficiency": 0.5,
            "launch": "1 us",
            "flop_energy": {"bf16": "2 pJ/FLOP"},
            "memory_energy": "10 pJ/B",
            "idle": "50 W",
            "source": "round numbers for this test",
        }
    )


def graph_of(*operators: Operator, precision: str = "bf16") -> OpGraph:
    return OpGraph.from_rows(
        operators,
        [Message("none", "data", 0.0, 0.0)],
        bubble=np.ones(2),
        footprint_bytes=np.zeros(2),
        work=1.0,
        precision=precision,
    )


@pytest.fixture
def graph() -> OpGraph:
    return graph_of(
        Operator("matrix", 1e9, np.array([1e3, 1e6]), 3),
        Operator("copy", 0.0, np.array([1e5, 2e5]), 2, in_bubble=False),
    )


def test_hand_computed_times(graph: OpGraph, device: Device) -> None:
    compute_s, memory_s, time_s = operator_s(graph, device)
    np.testing.assert_allclose(compute_s, [[20e-6, 20e-6], [0, 0]])
    np.testing.assert_allclose(memory_s, [[10e-9, 10e-6], [1e-6, 2e-6]])
    np.testing.assert_allclose(time_s, [[21e-6, 21e-6], [2e-6, 3e-6]])


def test_the_ridge_is_where_both_limits_meet(device: Device) -> None:
    ridge_flops_per_byte = 100e12 * 0.5 / (200e9 * 0.5)
    graph = graph_of(Operator("ridge", 1e6 * ridge_flops_per_byte, 1e6, 1))
    compute_s, memory_s, _ = operator_s(graph, device)
    np.testing.assert_allclose(compute_s, memory_s)


@pytest.mark.parametrize("key", ["memory_bandwidth", "flops", "matrix_efficiency", "memory_efficiency"])
def test_a_faster_device_is_never_slower(graph: OpGraph, device: Device, key: str) -> None:
    content = device.model_dump()
    faster = {"bf16": 2 * content[key]["bf16"]} if key == "flops" else content[key] * 1.5
    quick = Device.model_validate(content | {key: faster})
    assert np.all(operator_s(graph, quick)[2] <= operator_s(graph, device)[2])


def test_energy_by_hand(graph: OpGraph, device: Device) -> None:
    compute_j, memory_j = energy.operator_j(graph, device)
    np.testing.assert_allclose(compute_j, [6e-3, 6e-3])
    np.testing.assert_allclose(memory_j, [(3e3 + 2e5) * 10e-12, (3e6 + 4e5) * 10e-12])
    np.testing.assert_allclose(energy.static_j(np.array([0.0, 2.0]), device), [0.0, 100.0])


def test_a_precision_without_matrix_units_is_refused() -> None:
    with pytest.raises(ValueError, match="does not run fp8"):
        operator_s(graph_of(Operator("matrix", 1.0, 1.0, 1), precision="fp8"), load_device("a100-sxm"))


def test_rows_mark_what_the_bubble_repeats(graph: OpGraph) -> None:
    assert graph.operators == ("matrix", "copy")
    assert graph.in_bubble.tolist() == [True, False]
    assert graph.count.shape == graph.flops.shape == (2, 2)
