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
        ({"disaggregated": False, "decode_tensor": 4}, "decode_tensor: of two pools alone"),
    ],
)
def test_what_two_pools_have_not_is_told(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        chat(**fields)


def test_a_workload_is_written_as_before_where_it_is_not_disaggregated() -> None:
    plain = TypeAdapter(TransformerInference).validate_python(CHAT)
    names = {"disaggregated", "prefill_accelerators", "prefill_tensor", "prefill_expert", "decode_tensor"}
    assert not names & plain.model_dump().keys()


PINNED = {
    "prefill_accelerators": 8,
    "prefill_tensor": [1, 2],
    "decode_tensor": 4,
    "prefill_expert": 2,
    "expert": [1, 2],
}
SIZES = [
    ({}, 8), ({"prefill_accelerators": [2, 4]}, 8), ({"prefill_tensor": 2}, 8), (EXPERTS, 16), (EXPERTS | PINNED, 16),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "size"), SIZES)
def test_every_split_with_a_user_for_each_replica_is_listed(fields: dict[str, Any], size: int) -> None:
    """With equal degrees, or those of each pool, where both have whole blocks of the wider replicas."""
    workload = chat(**fields)
    found = workload.mappings(size)
    names = ("tensor", "data", "prefill", "expert", "prefill_tensor", "prefill_expert")
    rows = list(zip(*(getattr(found, name).tolist() for name in names), strict=True))
    shape, degrees = workload.shape, [d for d in range(1, size + 1) if size % d == 0]

    def allows(name: str, number: int) -> bool:
        asked = fields.get(name)
        return asked is None or number in (asked if isinstance(asked, list) else [asked])

    wanted = set()
    for decode_tensor, prefill_tensor in product(degrees, repeat=2):
        wide, narrow = max(decode_tensor, prefill_tensor), min(decode_tensor, prefill_tensor)
        for decode, prefill in product(range(1, size), repeat=2):
            first, fits = prefill * prefill_tensor, wide % narrow == 0 and shape.heads % wide == 0
            if first + decode * decode_tensor != size or not fits or max(prefill, decode) > workload.concurrency:
                continue
            if decode_tensor != prefill_tensor and (first % wide or size % wide):
                continue
            asked = {"prefill_accelerators": first, "prefill_tensor": prefill_tensor, "decode_tensor": decode_tensor}
            for expert, prefill_expert in product(degrees, repeat=2):
                whole = shape.experts % expert == 0 == shape.experts % prefill_expert
                if not whole or decode % expert or prefill % prefill_expert:
                    continue
                asked |= {"expert": expert, "prefill_expert": prefill_expert}
                if not all(allows(*each) for each in asked.items()):
                    continue
                is_own = (decode_tensor, expert) != (prefill_tensor, prefill_expert)
                own = (prefill_tensor, prefill_expert) if is_own else (0, 0)
                wanted.add((decode_tensor, prefill + decode, prefill, expert, *own))
    assert len(rows) == len(wanted)
    assert set(rows) == wanted
    assert (found.num_devices == size).all()
    assert (found.micro_batch == -(-workload.concurrency // (found.data - found.prefill))).all()


TORUS: dict[str, Any] = {
    "kind": "torus", "servers": 2, "sides": [2, 2, 2], "link_bandwidth": "50 GB/s", "alpha": "1 us",
    "link_energy": "10 pJ/b",
}  # fmt: skip
SIPAC: dict[str, Any] = {
    "kind": "sipac", "servers": 1, "radix": 2, "digits": 3, "bandwidth": "300 GB/s", "alpha": "1 us",
    "energy": "5 pJ/b",
}  # fmt: skip


@pytest.mark.parametrize("fabric", [FAT_TREE, LIGHTPATH, TORUS, SIPAC], ids=lambda fabric: fabric["kind"])
def test_rows_are_written_and_read_back(fabric: dict[str, Any]) -> None:
    built = fabric_of(fabric)
    rows, scores = priced(chat(), built, 4, 8)
    written = [rows.configuration(row) for row in range(len(rows))]
    kind = "routed" if built.sizes else "transfer"
    assert written
    assert all(0 < each.prefill < each.data and each.data_collective.kind == kind for each in written)
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


def test_each_pool_takes_the_time_of_its_own_degrees() -> None:
    """Where nobody waits and caches take no time: prompts as on replicas of their degrees, tokens as on theirs."""
    fast = fabric_of(FAT_TREE | {"servers": 16, "network_bandwidth": "1000000 GB/s"})
    workload = chat(model="qwen3-30b-a3b", concurrency=4, input_tokens=256, output_tokens=4000)
    rows, scores = priced(workload, fast, 4, 8)
    prompt_s, token_s = dict[object, float](), dict[object, float]()
    own = []
    for row in np.flatnonzero(rows.block == 4).tolist():
        c = rows.configuration(row)
        kinds = c.tensor_collective.kind, c.data - c.prefill, c.is_confined("expert")
        if c.prefill_tensor:
            assert c.tensor_collective.prefill is not None
            first = c.prefill_tensor, c.prefill_expert, c.tensor_collective.prefill.kind
            own.append((row, first, (c.tensor, c.expert, *kinds)))
        else:
            prompt_s[c.tensor, c.expert, c.tensor_collective.kind] = scores.ttft_s[row]
            token_s[c.tensor, c.expert, *kinds] = scores.tpot_s[row]
    first = [(scores.ttft_s[row], prompt_s[key]) for row, key, _ in own if key in prompt_s]
    then = [(scores.tpot_s[row], token_s[key]) for row, _, key in own if key in token_s]
    assert min(len(first), len(then)) > 5
    assert len({key for _, key, _ in own}) > 2
    for times, rel in ((first, 3e-3), (then, 0.01)):
        np.testing.assert_allclose(*zip(*times, strict=True), rtol=rel)


@pytest.mark.parametrize(("prompts", "tokens"), [(1, 4), (4, 1), (2, 8), (8, 2), (2, 2)])
def test_caches_go_whole_between_pools_of_other_degrees(prompts: int, tokens: int) -> None:
    """A rank of tokens gets all it needs of a cache, from as many ranks as hold it."""
    workload = chat(prefill_tensor=prompts, decode_tensor=tokens)
    mappings = workload.mappings(24)
    graph = workload.op_graph(mappings, DEVICE)
    [sent] = [size for block, _, size, _ in graph.messages_of(0) if block.phase == "transfer"]
    shape = workload.shape
    whole = shape.layers * 2 * shape.kv_heads * shape.head_dim * 2 * workload.input_tokens
    assert sent == pytest.approx(whole / max(prompts, tokens))


@pytest.mark.parametrize("fabric", [FAT_TREE, LIGHTPATH], ids=lambda fabric: fabric["kind"])
def test_circuits_of_pools_with_other_degrees_are_those_of_the_rules(fabric: dict[str, Any]) -> None:
    from planner.checks.required import required_links
    from planner.fabrics.demand import shape_of
    from tests.oracles.circuits import required_circuits

    built = fabric_of(fabric)
    rows = enumerate_candidates(chat(prefill_tensor=[1, 2, 4]), [4, 8, 12], DEVICE, built)
    own = np.flatnonzero((rows.mappings.prefill_tensor > 0)[rows.mapping])
    assert len(own) > 5
    for row in own.tolist():
        configuration = rows.configuration(row)
        wanted = [(name, set(circuits)) for name, circuits in required_circuits(configuration)]
        shape = shape_of(rows, row, built)
        assert [(name, set(circuits)) for name, circuits in shape.configurations] == wanted
        checked = required_links(configuration)
        assert checked is not None
        found = [(name, {(a, b, width) for (a, b), width in links.items()}) for name, links in checked]
        assert [each for each in found if each[1]] == wanted
        for (_, circuits), starts in zip(shape.configurations, shape.offsets, strict=True):
            lit: dict[tuple[int, int], set[int]] = {}
            for (a, b, width), first in zip(circuits, starts, strict=True):
                for end in ((0, a), (1, b)):
                    used = set(range(first, first + width))
                    assert not used & lit.setdefault(end, set())
                    lit[end] |= used
                    assert max(used) < LIGHTPATH["wavelengths_per_tile"]
