"""What users see of one replica: parts written out, limits, laws."""

from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import Device, load_device
from costmodel.kernels.collective import node_collective_s
from costmodel.kernels.gemm import gemm_s
from costmodel.pricing.calibration import Calibration, load_calibrations
from costmodel.serving.replica import replicas
from costmodel.workloads import TransformerInference

H100 = load_device("h100")
DEGREES = (1, 2, 4, 8)
USUAL: dict[str, Any] = {"model": "qwen3-32b", "input_tokens": 1024, "output_tokens": 256, "concurrency": 32}
PLAIN = {"matrix_slowdown": 1.0, "layer_s": 0.0, "sequence_s": 0.0, "eager_layer_s": 0.0, "first_token_s": 0.0}


def served(tensor: tuple[int, ...] = (4,), device: Device = H100, **changed: Any) -> dict[str, np.ndarray]:
    """Columns of all degrees; NaN where the model does not fit."""
    found, _, scores = replicas(TransformerInference(**{**USUAL, **changed}), tensor, device)
    columns = {}
    for name in ("ttft_s", "tpot_s", "speed", "step_s", "footprint_bytes"):
        columns[name] = np.full(len(tensor), np.nan)
        columns[name][found] = getattr(scores, name)
    return columns


@pytest.mark.parametrize("tensor", DEGREES)
def test_tokens_of_one_user_are_products_traffic_and_all_reduces(tensor: int) -> None:
    """Llama 3.1 8B without software, written out: hidden 4096, 32 and 8 heads of 128, FFN 14336."""
    part = Calibration(device="h100-sxm", families={"serving": {"vllm": PLAIN}}, source="none")
    job = TransformerInference(
        model="llama-3.1-8b", backend="vllm", concurrency=1, input_tokens=1000, output_tokens=200
    )
    _, _, scores = replicas(job, (tensor,), H100, (part, *load_calibrations()))
    sizes = [
        (4096, (4096 + 2 * 1024) / tensor), (4096 / tensor, 4096), (4096, 2 * 14336 / tensor), (14336 / tensor, 4096)
    ]  # fmt: skip
    layer_s = sum(float(gemm_s(1, outputs, inputs, H100, "bf16")) for inputs, outputs in sizes)
    layer_s += 2 * (10 * 4096 + 3 * 14336 / tensor) / (H100.memory_bytes_per_s * H100.memory_efficiency)
    layer_s += 2 * float(node_collective_s("all_reduce", tensor, 4096 * 2, H100))
    layer_s += 1100 * 2 * 2 * 8 / tensor * 128 / (0.9 * H100.memory_bytes_per_s)
    expected = 32 * layer_s + float(gemm_s(1, 128256 / tensor, 4096, H100, "bf16"))
    assert scores.tpot_s[0] == pytest.approx(expected)


def test_more_users_give_more_throughput_and_slower_tokens() -> None:
    found = [served(concurrency=users) for users in (1, 4, 16, 64)]
    assert np.all(np.diff([f["speed"][0] for f in found]) > 0)
    assert np.all(np.diff([f["tpot_s"][0] for f in found]) > 0)


def test_a_second_user_does_not_wait_for_the_first_one_to_end() -> None:
    """Nor with software that was set to run fewer requests than there were users where it was measured."""
    chat = {"model": "llama-3.1-8b", "backend": "trtllm", "input_tokens": 1024, "output_tokens": 4096}
    alone, both = (served((1,), concurrency=users, **chat)["ttft_s"][0] for users in (1, 2))
    assert alone < both < 3 * alone


def test_a_start_of_all_at_once_waits_longer_than_the_steady_state() -> None:
    assert served(requests_per_user=2)["ttft_s"][0] > served()["ttft_s"][0]


def test_memory_limits_the_batch_and_users_wait() -> None:
    narrow, wide = (served((tensor,), concurrency=32, backend="sglang")["ttft_s"][0] for tensor in (1, 2))
    assert narrow > 3 * wide
    assert served((1,), concurrency=32, backend="sglang", kv_precision="fp8")["ttft_s"][0] < narrow
    assert np.isnan(served((1,), model="llama-3.1-70b")["ttft_s"][0])


def test_a_batch_limit_makes_users_wait() -> None:
    assert served(max_batch=8)["ttft_s"][0] > 2 * served()["ttft_s"][0]
    assert served(max_batch=64)["ttft_s"][0] == served()["ttft_s"][0]


def test_static_batches_let_all_wait_for_all_prompts() -> None:
    static, usual = served(batching="static"), served()
    assert static["ttft_s"][0] > 5 * usual["ttft_s"][0]
    assert static["tpot_s"][0] < usual["tpot_s"][0]
    assert static["speed"][0] == pytest.approx(usual["speed"][0], rel=0.25)


def test_a_tensor_group_of_two_servers_waits_for_the_network() -> None:
    one, two = served((8, 16), model="llama-3.1-8b")["tpot_s"]
    assert two > one


def test_a_pair_never_beats_the_memory() -> None:
    """Reading the weights once, and the caches, at the published peak."""
    for backend in ("generic", "trtllm", "vllm", "sglang"):
        for model, parameters, cache_bytes in (("llama-3.1-8b", 7.5e9, 131072), ("qwen3-32b", 31.9e9, 262144)):
            found = served(DEGREES, model=model, backend=backend, concurrency=8)
            read_bytes = 2 * parameters + 8 * 1024 * cache_bytes
            least_s = read_bytes / np.array(DEGREES) / H100.memory_bytes_per_s
            assert np.all(~(found["tpot_s"] < least_s) | np.isnan(found["tpot_s"]))


MODELS = ("llama-3.1-8b", "llama-3.1-70b", "qwen3-32b", "mixtral-8x7b")
BACKENDS = ("generic", "trtllm", "vllm", "sglang")


def random_job(rng: np.random.Generator) -> tuple[dict[str, Any], Device]:
    job = {
        "model": rng.choice(MODELS), "backend": rng.choice(BACKENDS), "precision": rng.choice(["bf16", "fp8"]),
        "input_tokens": int(2 ** rng.uniform(4, 13)), "output_tokens": int(2 ** rng.uniform(1, 12)),
    }  # fmt: skip
    return job, load_device(rng.choice(["h100-sxm", "h200-sxm", "b200-sxm"]))


@pytest.mark.slow
def test_first_tokens_never_come_sooner_with_more_users() -> None:
    rng = np.random.default_rng(5)
    for _ in range(32):
        job, device = random_job(rng)
        users = np.unique(np.round(2.0 ** rng.uniform(0, 10, 8)).astype(int)).tolist()
        first_s = np.array([served(DEGREES, device, **job, concurrency=number)["ttft_s"] for number in users])
        assert not (first_s[1:] < first_s[:-1] * (1 - 1e-9)).any()


@pytest.mark.slow
def test_first_tokens_never_come_later_with_faster_memory() -> None:
    rng = np.random.default_rng(6)
    for _ in range(32):
        job, device = random_job(rng)
        job["concurrency"] = int(2 ** rng.uniform(0, 10))
        rates = device.memory_bytes_per_s * np.sort(rng.uniform(0.5, 4, 8))
        first_s = np.array(
            [served(DEGREES, device.model_copy(update={"memory_bytes_per_s": r}), **job)["ttft_s"] for r in rates]
        )
        assert not (first_s[1:] > first_s[:-1] * (1 + 1e-9)).any()


def test_a_chunk_with_room_for_all_is_a_whole_prompt() -> None:
    for job in ({}, {"prefix_hit": 0.5}, {"speculation": {"tokens": 2, "acceptance": 0.7}}):
        whole, chunked = served(DEGREES, **job), served(DEGREES, **job, chunk=1024 + 31 * 3)
        for name, column in whole.items():
            np.testing.assert_array_equal(column, chunked[name])


def test_a_smaller_chunk_is_waited_for_less_and_hardly_slows_tokens() -> None:
    whole, parts = (served((4,), input_tokens=8192, output_tokens=4096, chunk=chunk) for chunk in (8223, 2048))
    assert parts["ttft_s"][0] < whole["ttft_s"][0]
    assert parts["tpot_s"][0] == pytest.approx(whole["tpot_s"][0], rel=0.05)


def test_chunks_for_which_no_step_has_room_let_users_wait() -> None:
    assert served((4,), chunk=64)["ttft_s"][0] > 20 * served((4,))["ttft_s"][0]


def test_a_shared_prefix_is_held_once() -> None:
    """Half of 1,024 tokens of 32 requests: 31 copies of 512 tokens less, of 131,072 B on each of two ranks."""
    alone, shared = (
        served((2,), prefix_hit=hit, output_tokens=64, precision="fp8")["footprint_bytes"][0] for hit in (0.0, 0.5)
    )
    assert alone - shared == pytest.approx(31 * 512 * 2 * 64 * 8 * 128 * 2 / 2)


def test_certain_guesses_that_cost_nothing_multiply_tokens() -> None:
    """One user: as many steps as tokens before; a step checks four tokens in hardly more time than one."""
    plain, sure = (
        served(concurrency=1, speculation=said)["tpot_s"][0] for said in (None, {"tokens": 3, "acceptance": 1})
    )
    assert plain / 4 < sure < 1.06 * plain / 4


def test_wrong_guesses_only_cost() -> None:
    degrees = (4, 8)
    plain = served(degrees)["tpot_s"]
    for said in ({"tokens": 2, "acceptance": 0}, {"tokens": 2, "acceptance": 0, "draft_cost": 0.1}):
        assert np.all(served(degrees, speculation=said)["tpot_s"] > plain)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [None, 512])
def test_first_tokens_never_come_later_with_a_longer_shared_prefix(chunk: int | None) -> None:
    """But for a tile of attention that a longer prefix cuts."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        job, device = random_job(rng)
        job |= {"concurrency": int(2 ** rng.uniform(0, 8)), "chunk": chunk}
        hits = np.sort(rng.uniform(0, 1, 6)).tolist()
        found = [served(DEGREES, device, **job, prefix_hit=hit) for hit in (0.0, *hits)]
        first_s = np.array([f["ttft_s"] for f in found])
        assert not (first_s[1:] > first_s[:-1] * (1 + 3e-3)).any()


@pytest.mark.slow
def test_next_tokens_never_come_later_with_better_guesses() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        job, device = random_job(rng)
        job["concurrency"] = int(2 ** rng.uniform(0, 8))
        tokens = int(rng.integers(1, 8))
        chances = (0.0, *np.sort(rng.uniform(0, 1, 4)).tolist(), 1.0)
        found = [served(DEGREES, device, **job, speculation={"tokens": tokens, "acceptance": a}) for a in chances]
        next_s = np.array([f["tpot_s"] for f in found])
        assert not (next_s[1:] > next_s[:-1] * (1 + 1e-9)).any()
