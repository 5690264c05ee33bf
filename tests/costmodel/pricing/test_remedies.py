"""Each remedy by itself lists something."""

from typing import Any

import pytest
import yaml

from costmodel.pricing.remedies import remedies
from tests.costmodel.pricing.unlisted_cases import H100, LLAMA, WORKLOADS, count, fabric, workload


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fat_tree", "memory_ring"])
@pytest.mark.parametrize(
    ("fields", "size"),
    [
        (LLAMA, 32),
        (WORKLOADS["small"] | {"uneven_stages": False}, 5),
        (WORKLOADS["small"] | {"global_batch": 8, "micro_batch": 3}, 8),
        (WORKLOADS["experts"] | {"expert": 3}, 8),
        ({"kind": "transformer_training", "model": "gpt3-22b", "global_batch": 16, "sequence": 2048}, 4),
    ],
)
def test_each_remedy_by_itself_lists_something(name: str, fields: dict[str, Any], size: int) -> None:
    on = fabric(name)
    assert not count(workload(fields), size, on)
    for remedy in remedies(workload(fields), size, H100, on):
        changes: dict[str, Any] = {}
        for part in remedy.split(" with "):
            changes |= {part.split()[0]: None} if part.endswith("left out") else yaml.safe_load(part)
        assert count(workload(fields | changes), size, on), remedy


def test_a_service_without_room_may_keep_shares_in_memory_nodes() -> None:
    asked = {
        "kind": "transformer_inference", "model": "llama-3.1-405b", "concurrency": 4, "input_tokens": 512,
        "output_tokens": 64,
    }  # fmt: skip
    assert remedies(workload(asked), 8, H100, fabric("memory_ring")) == ("offload: weights",)
    assert remedies(workload(asked), 8, H100, fabric("fat_tree")) == ()
