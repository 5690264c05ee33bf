"""Rows against a plain enumeration; limits by the user; configurations there and back."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import Device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import candidates_of, enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import TransformerTraining
from tests.costmodel.pricing.candidates_cases import DEVICE, workload_of
from tests.costmodel.pricing.score_cases import FAT_TREE, LIGHTPATH, WORKLOADS, fabric_of

BIG: dict[str, Any] = WORKLOADS["training"] | {"model": "llama-3.1-70b"}


def listed(fields: dict[str, Any], fabric: dict[str, Any], *sizes: int, **options: Any) -> list[Configuration]:
    candidates = enumerate_candidates(workload_of(fields), sizes, DEVICE, fabric_of(fabric), **options)
    return [candidates.configuration(row) for row in range(len(candidates))]


def naive(workload: TransformerTraining, size: int, tiles: int) -> set[tuple[int, int, int, int]]:
    """Degrees and block of each way to divide a training over tiles: a tensor group stays in one server."""
    shape, found = workload.shape, set()
    for tensor, pipeline, data in product(range(1, size + 1), repeat=3):
        if tensor * pipeline * data != size or shape.heads % tensor or shape.layers < pipeline:
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
    footprints = candidates.workload.footprint(candidates.mappings)[0][candidates.mapping]
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


@pytest.mark.slow
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


def test_no_configurations_no_rows() -> None:
    none = candidates_of([], workload_of(WORKLOADS["training"]), DEVICE, fabric_of(FAT_TREE))
    assert len(none) == 0
    assert score(none, DEVICE, fabric_of(FAT_TREE)).step_s.shape == (0,)


OPEN: dict[str, Any] = WORKLOADS["training"] | {
    "global_batch": 8, "micro_batch": [1, 2], "interleave": [1, 2], "context": [1, 2], "recompute": ["none", "full"],
    "zero": [0, 1, 3], "sequence_parallel": [False, True], "offload": ["none", "optimizer", "weights+activations"],
}  # fmt: skip
ROUTED: dict[str, Any] = OPEN | {"model": "mixtral-8x7b", "expert": [1, 2, 4], "global_batch": 16}
SERVED: dict[str, Any] = WORKLOADS["serving"] | {"model": "mixtral-8x7b", "expert": [1, 2, 4]}
TIERED = Device.model_validate(DEVICE.model_dump() | {"offload": "host-pcie5", "capacity": "8 TB"})


@pytest.mark.slow
@pytest.mark.parametrize(("fabric", "context"), [(LIGHTPATH, {1, 2}), (FAT_TREE, {1, 2})])
@pytest.mark.parametrize("fields", [OPEN, ROUTED, SERVED])
def test_scores_of_configurations_there_and_back(
    fields: dict[str, Any], fabric: dict[str, Any], context: set[int]
) -> None:
    """Written, read again and priced one by one: each row costs what it cost among all."""
    workload, parsed = workload_of(fields), fabric_of(fabric)
    candidates = enumerate_candidates(workload, (4, 8), TIERED, parsed)
    assert {*candidates.mappings.context[candidates.mapping].tolist()} == (context if "context" in fields else {1})
    rows = np.random.default_rng(0).permutation(len(candidates))[:60]
    written = [candidates.configuration(int(row)).model_dump_json() for row in rows]
    read = [Configuration.model_validate_json(text) for text in written]
    assert len(set(read)) == len(read)
    back, expected = candidates_of(read, workload, TIERED, parsed), candidates.take(rows)
    again, before = score(back, TIERED, parsed), score(expected, TIERED, parsed)
    for name, column in vars(again).items():
        np.testing.assert_allclose(column, getattr(before, name), rtol=1e-12, err_msg=name)


def plain_rows(workload: TransformerTraining, size: int, gpus_per_server: int) -> set[tuple[Any, ...]]:
    """Every row on a fat tree, searched plainly: choices, block, how many of each group share it, and the kind of each
    collective."""
    found = set()
    mappings = workload.mappings(size)
    for row in range(len(mappings)):
        c = mappings.choice(row)
        context = c["tensor"] * c["context"]
        even = max(share for share in range(1, gpus_per_server + 1) if size % share == 0)
        usual = Degrees(c["tensor"], c["pipeline"], c["data"], c["context"], c["expert"])
        ranks = [c["tensor"], c["pipeline"], c["data"] * c["context"], c["context"], c["expert"]]
        reduced = [("ring",) if n < 4 else ("ring", "tree") for n in ranks]  # a tree of two or three is never sooner
        kinds = [reduced[0], ("switched",), reduced[2], reduced[3], ("switched",)]
        choices = [kind if n > 1 else ("none",) for n, kind in zip(ranks, kinds, strict=True)]
        for order in RANK_ORDERS:
            ordered = replace(usual, order=order)
            is_near = c["pipeline"] == 1 or order != "tp-cp-pp-dp"
            blocks = {c["tensor"], context, size} | ({context * c["expert"]} if is_near else set())
            blocks |= {even} if even % context == 0 else set()
            for block in (block for block in blocks if block <= gpus_per_server):
                together = tuple(ordered.ranks_together(dimension, block) for dimension in DIMENSIONS)
                found |= {(*c.values(), block, together, *plan) for plan in product(*choices)}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fields", [OPEN, ROUTED])
@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_rows_on_a_fat_tree_equal_a_plain_search(fields: dict[str, Any], size: int) -> None:
    workload, fabric = workload_of(fields), fabric_of(FAT_TREE)
    assert isinstance(workload, TransformerTraining)
    tier = load_memory_tier("host-pcie5").model_dump() | {"capacity": "8 TB"}
    device = Device.model_validate(TIERED.model_dump() | {"offload": tier})
    candidates = enumerate_candidates(workload, (size,), device, fabric)
    rows = []
    for row in range(len(candidates)):
        choice = candidates.mappings.choice(int(candidates.mapping[row]))
        kinds = (candidates.plans[index].kind for index in candidates.plan[:, row])
        configuration = candidates.configuration(row)
        together = tuple(configuration.all_degrees.ranks_together(d, configuration.block) for d in DIMENSIONS)
        rows.append((*choice.values(), int(candidates.block[row]), together, *kinds))
    assert len(set(rows)) == len(rows)
    assert set(rows) == plain_rows(workload, size, 4)


def test_offload_needs_a_second_tier_with_room() -> None:
    workload, fabric = workload_of(WORKLOADS["training"] | {"offload": "optimizer"}), fabric_of(FAT_TREE)
    assert len(enumerate_candidates(workload, (4,), DEVICE, fabric)) == 0
    assert len(enumerate_candidates(workload, (4,), TIERED, fabric)) > 0
    tier = load_memory_tier("host-pcie5").model_dump() | {"capacity": "1 MB"}
    small = Device.model_validate(TIERED.model_dump() | {"offload": tier})
    assert len(enumerate_candidates(workload, (4,), small, fabric)) == 0
