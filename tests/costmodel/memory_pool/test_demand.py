"""Demand of a workload for compute and memory."""

from fractions import Fraction

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.memory_pool.demand import WorkloadDemand, attainable_flops_per_s
from costmodel.memory_pool.loop import allocate
from costmodel.workloads import TransformerInference, TransformerTraining
from tests.costmodel.memory_pool.loop_cases import POOLS, Scripted


@pytest.mark.parametrize(
    "workload",
    [
        TransformerTraining(model="llama-2-7b", global_batch=64, sequence=4096, micro_batch=1),
        TransformerInference(model="llama-3.1-70b", concurrency=64, input_tokens=1024, output_tokens=256),
    ],
)
def test_workloads_of_an_instance(workload: TransformerTraining | TransformerInference) -> None:
    """Sums over the op graph's operators, one mapping at a time; and the method on them ends in what fits."""
    device = load_device("h100-sxm")
    demand = WorkloadDemand(workload, device)
    table = demand.demands(demand.mappings(4))
    graph = workload.op_graph(table.mappings, device)
    for m in range(len(table)):
        rows = list(graph.operators_of(m))
        assert table.flops[m] == pytest.approx(sum(flops * times for _, _, flops, _, times in rows))
        assert table.memory_bytes[m] == pytest.approx(sum(moved * times for _, _, _, moved, times in rows))
        assert table.operators[m] == pytest.approx(sum(times for *_, times in rows))
    np.testing.assert_array_equal(table.workload_bytes, 4 * graph.footprint_bytes)
    found = allocate(demand, device.matrix_flops_per_s("bf16"), POOLS[Fraction(2 * 10**12)])
    assert found.stop in ("fixed point", "oscillation")
    assert found.result.fits


def test_roofline() -> None:
    assert attainable_flops_per_s([1.0, 2.0, 4.0], 3.0, 1.0).tolist() == [1.0, 2.0, 3.0]


def test_added_latency_is_waited_for_by_each_operator() -> None:
    demand = Scripted({1: 1.0})
    table = demand.demands(demand.mappings(1))
    assert table.time_s(1e12, 1e12, 2.0) - table.time_s(1e12, 1e12) == pytest.approx([2.0])
