"""Two pools as candidates: which are listed, what goes between them, and what that is worth."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import BYTES_OF_PRECISION, load_device
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import Candidates, candidates_of, enumerate_candidates
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference
from tests.costmodel.pricing.score_cases import FAT_TREE, fabric_of

DEVICE = load_device("h100-sxm")
LIGHTPATH: dict[str, Any] = {
    "kind": "lightpath", "servers": 4, "tiles_per_server": 4, "wavelengths_per_tile": 16,
    "wavelength_bandwidth": "1 GB/s", "max_peers": 4, "fibers": 4, "wavelengths_per_fiber": 16,
    "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
}  # fmt: skip
CHAT: dict[str, Any] = {
    "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 12, "input_tokens": 1024,
    "output_tokens": 128,
}  # fmt: skip
EXPERTS = {"model": "qwen3-30b-a3b", "concurrency": 64}


def chat(**fields: Any) -> TransformerInference:
    return TypeAdapter(TransformerInference).validate_python(CHAT | {"disaggregated": True} | fields)


def priced(workload: TransformerInference, fabric: FabricBase, *sizes: int) -> tuple[Candidates, Scores]:
    found = enumerate_candidates(workload, sizes, DEVICE, fabric)
    return found, score(found, DEVICE, fabric)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"batching": "static"}, "remove batching: static"),
        ({"requests_per_user": 4}, "remove requests_per_user"),
        ({"chunk": 512}, "remove chunk"),
        ({"lengths": "varied"}, "remove lengths"),
        ({"output_tokens": 1}, "output_tokens of 2 or more"),
        ({"disaggregated": False, "prefill_accelerators": 4}, "add disaggregated: true"),
    ],
)
def test_what_two_pools_have_not_is_told(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        chat(**fields)


def test_a_workload_is_written_as_before_where_it_is_not_disaggregated() -> None:
    plain = TypeAdapter(TransformerInference).validate_python(CHAT)
    assert not {"disaggregated", "prefill_accelerators"} & plain.model_dump().keys()


@pytest.mark.parametrize(("fields", "size"), [({}, 8), ({"prefill_accelerators": [2, 4]}, 8), (EXPERTS, 16)])
def test_every_split_with_a_user_for_each_replica_is_listed(fields: dict[str, Any], size: int) -> None:
    workload, pinned = chat(**fields), fields.get("prefill_accelerators")
    found = workload.mappings(size)
    listed = set(
        zip(found.tensor.tolist(), found.data.tolist(), found.prefill.tolist(), found.expert.tolist(), strict=False)
    )
    shape = workload.shape
    wanted = {
        (tensor, data, prefill, expert)
        for tensor, data, prefill, expert in product(range(1, size + 1), repeat=4)
        if tensor * data == size and shape.heads % tensor == 0 and 0 < prefill < data
        and max(prefill, data - prefill) <= workload.concurrency
        and shape.experts % expert == 0 and prefill % expert == 0 and data % expert == 0
        and (pinned is None or tensor * prefill in pinned)
    }  # fmt: skip
    assert listed == wanted
    assert (found.micro_batch == -(-workload.concurrency // (found.data - found.prefill))).all()


@pytest.mark.parametrize("fabric", [FAT_TREE, LIGHTPATH], ids=lambda fabric: fabric["kind"])
def test_rows_are_written_and_read_back(fabric: dict[str, Any]) -> None:
    built = fabric_of(fabric)
    rows, scores = priced(chat(), built, 4, 8)
    written = [rows.configuration(row) for row in range(len(rows))]
    assert all(0 < each.prefill < each.data and each.data_collective.kind == "transfer" for each in written)
    again = candidates_of(written, rows.workload, DEVICE, built)
    assert [again.configuration(row) for row in range(len(again))] == written
    np.testing.assert_allclose(score(again, DEVICE, built).step_s, scores.step_s, rtol=1e-12)


@pytest.mark.parametrize(("tensor", "kv_precision"), [(1, "bf16"), (4, "fp8"), (8, "bf16")])
def test_all_that_a_prompt_leaves_in_the_cache_is_sent_once(tensor: int, kv_precision: str) -> None:
    """8 heads of keys and values divide among the ranks: all of them together send every byte of it, no more."""
    workload = chat(kv_precision=kv_precision)
    mappings = workload.mappings(16)
    row = int(np.flatnonzero(mappings.tensor == tensor)[0])
    graph = workload.op_graph(mappings, DEVICE)
    sent = [
        (size, count)
        for block, message, size, count in graph.messages_of(row)
        if message.dimension == "data" and block.phase == "transfer"
    ]
    shape = workload.shape
    cache_bytes = (
        shape.layers * 2 * shape.kv_heads * shape.head_dim * BYTES_OF_PRECISION[workload.kv_precision or "bf16"]
    )
    assert sent == [(pytest.approx(cache_bytes * workload.input_tokens / tensor), 1 / workload.output_tokens)]


@pytest.mark.parametrize("fields", [{}, {"input_tokens": 16384, "output_tokens": 16}, {"concurrency": 200}, EXPERTS])
def test_more_light_raises_no_first_token_and_lowers_no_speed(fields: dict[str, Any]) -> None:
    rows, scores = priced(chat(**fields), fabric_of(LIGHTPATH), 4, 8, 16)
    data, groups = DIMENSIONS.index("data"), dict[object, list[int]]()
    for row in range(len(rows)):
        key = rows.mapping[row], rows.block[row], rows.plan[0, row], rows.plan[4, row]
        groups.setdefault(key, []).append(row)
    width = np.array([plan.wavelengths[0] if plan.kind == "transfer" else 0 for plan in rows.plans])[rows.plan[data]]
    widened = 0
    for members in groups.values():
        ordered = sorted(members, key=lambda row: width[row])
        assert (np.diff(scores.ttft_s[ordered]) <= 1e-9 * scores.ttft_s[ordered][1:]).all()
        assert (np.diff(scores.speed[ordered]) >= -1e-9 * scores.speed[ordered][1:]).all()
        widened += len(ordered) > 1 and scores.ttft_s[ordered[-1]] < scores.ttft_s[ordered[0]] * (1 - 1e-6)
    assert widened or not groups


@pytest.mark.parametrize("fields", [{}, {"concurrency": 200}, {"input_tokens": 8192}])
def test_no_token_waits_longer_than_on_as_many_replicas_that_run_prompts_too(fields: dict[str, Any]) -> None:
    fast = fabric_of(FAT_TREE | {"servers": 16, "network_bandwidth": "1000000 GB/s"})
    rows, scores = priced(chat(**fields), fast, 8)
    alone, beside = priced(chat(disaggregated=False, **fields), fast, *range(1, 9))
    compared = 0
    for row in range(len(rows)):
        mine = rows.configuration(row)
        for other in range(len(alone)):
            theirs = alone.configuration(other)
            same = (mine.tensor, mine.tensor_collective) == (theirs.tensor, theirs.tensor_collective)
            if same and theirs.data == mine.data - mine.prefill and theirs.is_confined("tensor"):
                assert scores.tpot_s[row] <= beside.tpot_s[other] * (1 + 1e-9)
                compared += 1
    assert compared > 5


def test_what_only_some_accelerators_do_costs_their_energy_alone() -> None:
    """Joules of the operations of a token do not depend on the pools."""
    fabric, cool = fabric_of(FAT_TREE), DEVICE.model_copy(update={"power_limit_w": None})
    rows = enumerate_candidates(chat(), [8], cool, fabric)
    scores, m = score(rows, cool, fabric), rows.mapping
    row = int(np.flatnonzero((rows.mappings.tensor[m] == 1) & (rows.mappings.prefill[m] == 4))[0])
    alone = enumerate_candidates(chat(disaggregated=False, concurrency=1), [1], cool, fabric)
    one, work = score(alone, cool, fabric), scores.work[row]
    assert scores.compute_j[row] / work == pytest.approx(one.compute_j[0] / one.work[0], rel=0.02)
    assert scores.memory_j[row] / work < one.memory_j[0] / one.work[0]
