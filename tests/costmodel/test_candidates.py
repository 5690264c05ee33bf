"""Rows against a plain enumeration; limits by the user; configurations there and back."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from costmodel.candidates import DIMENSIONS, candidates_of, enumerate_candidates
from costmodel.configuration import Collective, Configuration
from costmodel.hardware import load_device
from costmodel.workloads import TransformerTraining, Workload
from tests.costmodel.test_score import FAT_TREE, LIGHTPATH, WORKLOADS, fabric_of

DEVICE = load_device("h100-sxm")
BIG: dict[str, Any] = WORKLOADS["training"] | {"model": "llama-3.1-70b"}


def workload_of(fields: dict[str, Any]) -> Workload:
    workload: Workload = TypeAdapter(Workload).validate_python(fields)
    return workload


def listed(fields: dict[str, Any], fabric: dict[str, Any], *sizes: int, **options: Any) -> list[Configuration]:
    candidates = enumerate_candidates(workload_of(fields), sizes, DEVICE, fabric_of(fabric), **options)
    return [candidates.configuration(row) for row in range(len(candidates))]


def naive(workload: TransformerTraining, size: int, tiles: int) -> set[tuple[int, int, int, int]]:
    """Degrees and block of each way to divide a training over tiles: a tensor group stays in one server."""
    shape, found = workload.shape, set()
    for tensor, pipeline, data in product(range(1, size + 1), repeat=3):
        if tensor * pipeline * data != size or shape.heads % tensor or shape.layers % pipeline:
            continue
        if not any(workload.global_batch % (data * b) == 0 for b in (1, 2, 4, 8, 16)):
            continue
        if tensor == size:
            found.add((tensor, pipeline, data, 1))
        elif tensor <= tiles:
            found.add((tensor, pipeline, data, tensor))
    return found


@pytest.mark.parametrize("size", range(1, 9))
def test_degrees_and_blocks(size: int) -> None:
    workload = workload_of(WORKLOADS["training"])
    assert isinstance(workload, TransformerTraining)
    rows = listed(WORKLOADS["training"], LIGHTPATH, size)
    found = {(c.tensor, c.pipeline, c.data, c.block) for c in rows}
    expected = {each for each in naive(workload, size, 4) if each[1] <= 2 or LIGHTPATH["max_peers"] >= 2}
    assert found == expected
    assert len(set(rows)) == len(rows)


def test_rows_combine_all_plans_of_the_dimensions() -> None:
    fabric = fabric_of(LIGHTPATH)
    rows = [c for c in listed(WORKLOADS["training"], LIGHTPATH, 4) if (c.tensor, c.data) == (2, 2)]
    expected = {
        (Collective.of(t), Collective.of(d))
        for t in fabric.plans("tensor", 2, one_server=True)
        for d in fabric.plans("data", 2, one_server=False)
    }
    assert {(c.tensor_collective, c.data_collective) for c in rows} == expected


def test_replicas_of_a_serving_job_exchange_nothing() -> None:
    rows = listed(WORKLOADS["serving"], LIGHTPATH, 4)
    assert any(c.data == 4 for c in rows)
    assert all(c.data_collective.kind == "none" for c in rows)


def test_what_does_not_fit_in_memory_is_not_listed() -> None:
    fabric = fabric_of(LIGHTPATH)
    assert listed(BIG, LIGHTPATH, 1) == []
    candidates = enumerate_candidates(workload_of(WORKLOADS["training"]), (1, 2, 4), DEVICE, fabric)
    footprints = candidates.graph.footprint_bytes[candidates.mapping]
    largest = float(footprints.max())
    smaller = DEVICE.model_copy(update={"capacity_bytes": largest})
    kept = enumerate_candidates(workload_of(WORKLOADS["training"]), (1, 2, 4), smaller, fabric)
    assert len(kept) == len(candidates)
    smaller = DEVICE.model_copy(update={"capacity_bytes": np.nextafter(largest, 0)})
    fewer = enumerate_candidates(workload_of(WORKLOADS["training"]), (1, 2, 4), smaller, fabric)
    assert len(fewer) == int((footprints < largest).sum())


@pytest.mark.parametrize("fabric", [LIGHTPATH, FAT_TREE])
def test_one_server_keeps_all_ranks_in_one_block(fabric: dict[str, Any]) -> None:
    rows = listed(WORKLOADS["training"], fabric, 2, 4, 8, one_server=True)
    assert {c.num_devices for c in rows} == {2, 4}
    assert all(c.block == c.num_devices for c in rows)


@pytest.mark.parametrize("kind", ["ring", "radix", "exchange"])
def test_collective_is_the_only_kind_except_along_the_pipeline(kind: str) -> None:
    rows = listed(WORKLOADS["training"], LIGHTPATH, 4, 8, collective=kind)
    assert rows
    assert {c.tensor_collective.kind for c in rows} | {c.data_collective.kind for c in rows} <= {"none", kind}
    assert {c.pipeline_collective.kind for c in rows} == {"none", "line"}


def test_blocks_of_a_fat_tree_are_a_tensor_group_or_the_job() -> None:
    assert {(c.tensor, c.block) for c in listed(WORKLOADS["training"], FAT_TREE, 4)} == {
        (1, 1), (1, 4), (2, 2), (2, 4), (4, 4),
    }  # fmt: skip
    assert {c.block for c in listed(WORKLOADS["training"], FAT_TREE, 8) if c.tensor == 8} == set()


@pytest.mark.parametrize("fabric", [LIGHTPATH, FAT_TREE])
@pytest.mark.parametrize("name", WORKLOADS)
def test_configurations_there_and_back(name: str, fabric: dict[str, Any]) -> None:
    workload, parsed = workload_of(WORKLOADS[name]), fabric_of(fabric)
    rows = listed(WORKLOADS[name], fabric, 2, 4, 8)
    back = candidates_of(rows, workload, DEVICE, parsed)
    assert [back.configuration(row) for row in range(len(back))] == rows
    assert back.num_devices.tolist() == [c.num_devices for c in rows]
    taken = back.take(np.array([1, 0]))
    assert [taken.configuration(row) for row in range(2)] == [rows[1], rows[0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tensor": 3}, "does not divide the workload"),
        ({"micro_batch": 7}, "does not divide the workload"),
        ({"tensor_collective": {"kind": "ring", "wavelengths": [5]}}, "tensor_collective is none that 2 ranks"),
        ({"tensor_collective": {"kind": "tree"}}, "some are: "),
        ({"data_collective": {"kind": "ring", "wavelengths": [1]}}, "data_collective is none that 1 ranks"),
    ],
)
def test_configurations_that_do_not_exist(changes: dict[str, Any], message: str) -> None:
    good = {
        "tensor": 2, "micro_batch": 4, "block": 1, "tensor_collective": {"kind": "ring", "wavelengths": [4]},
    }  # fmt: skip
    workload = workload_of(WORKLOADS["training"])
    candidates_of([Configuration.model_validate(good)], workload, DEVICE, fabric_of(LIGHTPATH))
    bad = Configuration.model_validate(good | changes)
    with pytest.raises(ValueError, match=message):
        candidates_of([bad], workload, DEVICE, fabric_of(LIGHTPATH))


def test_block_divides_the_ranks() -> None:
    with pytest.raises(ValueError, match="block 3 must divide the 4 ranks"):
        Configuration(tensor=4, block=3)


def test_dimensions_are_named_in_the_order_of_ranks() -> None:
    assert DIMENSIONS == ("tensor", "pipeline", "data")
