"""What is left open where a user names a model alone."""

import pytest

from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.parallelism.degrees import divisors
from costmodel.parallelism.mappings import OFFLOAD
from costmodel.parallelism.search_space import MICRO_BATCHES, opened
from costmodel.workloads import TransformerInference, TransformerTraining
from costmodel.workloads.transformer.training_spec import CONTEXT, CONTEXT_TOKENS
from tests.costmodel.parallelism.search_space_cases import training

DEVICE = load_device("a100-sxm")


def opened_training(job: TransformerTraining, device: Device = DEVICE) -> TransformerTraining:
    found = opened(job, device)
    assert isinstance(found, TransformerTraining)
    return TransformerTraining.model_validate(found.model_dump(by_alias=False))


def with_tier() -> Device:
    tier = MemoryTier(
        name="far", capacity_bytes=1e12, bandwidth_bytes_per_s=1e11, latency_s=1e-6, energy_j_per_byte=1e-10, source="x"
    )
    return DEVICE.model_copy(update={"offload": tier})


def test_every_choice_of_training_is_open() -> None:
    job = opened_training(training(attention="unfused"))
    assert job.micro_batch == MICRO_BATCHES
    assert job.interleave == tuple(divisors(48))
    assert job.recompute == ("none", "selective", "full")
    assert job.zero == (1, 2, 3)
    assert set(job.menus()["sequence_parallel"]) == {0, 1}
    assert job.uneven_stages
    assert (job.menus()["context"], job.menus()["expert"], job.offload) == ((1,), (1,), ("none",))


def test_what_is_given_stays() -> None:
    job, found = training(precision="fp16", overlap={"data": 0.5}), opened_training(training(precision="fp16"))
    assert (found.model, found.global_batch, found.sequence) == ("gpt3-22b", 48, 2048)
    assert found.precision == "fp16"
    assert opened_training(job).overlap == {"data": 0.5}


def test_fused_attention_has_nothing_to_select() -> None:
    assert opened_training(training(attention="fused")).recompute == ("none", "full")


@pytest.mark.parametrize(("sequence", "context"), [(CONTEXT_TOKENS - 1, (1,)), (CONTEXT_TOKENS, CONTEXT)])
def test_long_sequences_may_be_divided(sequence: int, context: tuple[int, ...]) -> None:
    assert opened_training(training(sequence=sequence, context=4)).menus()["context"] == context
    assert training(sequence=sequence).menus()["context"] == context


def test_offload_needs_a_second_tier() -> None:
    names = opened_training(training(), with_tier()).offload
    assert isinstance(names, tuple)
    assert len(set(names)) == 2 ** len(OFFLOAD)
    assert "none" in names
    assert {part for name in names if name != "none" for part in name.split("+")} == set(OFFLOAD)


def test_experts_may_be_divided_in_training_and_serving() -> None:
    assert opened_training(training(model="mixtral-8x7b", expert=2)).menus()["expert"] == (1, 2, 4, 8)
    assert training(model="mixtral-8x7b").menus()["expert"] == (1, 2, 4, 8)
    serving = TransformerInference.model_validate(
        {"model": "mixtral-8x7b", "concurrency": 8, "input_tokens": 512, "output_tokens": 64}
    )
    found = opened(serving, DEVICE)
    assert isinstance(found, TransformerInference)
    assert found.menus() == serving.menus() == {"expert": (1, 2, 4, 8)}


@pytest.mark.parametrize("size", [8, 48])
def test_the_opened_space_holds_each_mapping_of_a_fixed_one(size: int) -> None:
    fixed = training(micro_batch=2, interleave=2, recompute="full", sequence_parallel=False)
    wide = opened_training(fixed).mappings(size)
    mappings = fixed.mappings(size)
    assert len(mappings)
    for row in range(len(mappings)):
        choice = mappings.choice(row)
        # one rank alone has nothing to divide: only the first choice is listed
        listed = choice | ({"sequence_parallel": 1} if choice["tensor"] == 1 else {})
        assert wide.where(listed).sum() == 1
