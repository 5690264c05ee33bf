"""Which serving jobs are one workload, and whose mapping is whose."""

from typing import Any

import pytest

from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.joined_serving import JoinedServing, joining_key

CHAT = TransformerInference(model="llama-3.1-8b", concurrency=16, input_tokens=512, output_tokens=128)


@pytest.mark.parametrize("fields", [{"concurrency": (1, 64)}, {"input_tokens": 2048}, {"output_tokens": 1}])
def test_users_and_lengths_keep_jobs_together(fields: dict[str, Any]) -> None:
    assert joining_key(CHAT.model_copy(update=fields)) == joining_key(CHAT)


@pytest.mark.parametrize("fields", [{"precision": "fp8"}, {"model": "qwen3-8b"}, {"prefix_hit": 0.5}])
def test_all_else_parts_them(fields: dict[str, Any]) -> None:
    assert joining_key(CHAT.model_copy(update=fields)) not in ("", joining_key(CHAT))


@pytest.mark.parametrize("fields", [{"chunk": 256}, {"input_tokens": 1}, {"prefix_hit": 0.999}])
def test_prompts_that_other_kernels_may_run_stand_alone(fields: dict[str, Any]) -> None:
    assert joining_key(CHAT.model_copy(update=fields)) == ""


def test_each_mapping_is_of_one_job_on_its_sizes() -> None:
    jobs = [CHAT, CHAT.model_copy(update={"concurrency": 3}), CHAT.model_copy(update={"concurrency": (2, 8)})]
    sizes = [(2, 4), (4,), (8,)]
    joined = JoinedServing.of(jobs)
    found = joined.joined_mappings(sizes)
    users = joined.users_served(found)
    for number, (job, own) in enumerate(zip(jobs, sizes, strict=True)):
        rows, alone = found.job == number, job.mappings(*own)
        assert found.micro_batch[rows].tolist() == alone.micro_batch.tolist()
        assert found.num_devices[rows].tolist() == alone.num_devices.tolist()
        assert users[rows].tolist() == job.users_served(alone).tolist()
