"""Jobs whose memory cannot be divided are told what is missing."""

from typing import Any

import pytest

from planner.model.instance import Instance
from planner.pipeline import solve
from tests.benchmarks.random_pools import random_pool
from tests.planner.fabrics.sipam.racks import QUICK


@pytest.mark.parametrize(
    ("changes", "accelerators", "missing"),
    [
        ({}, 1, "bandwidth is missing"),
        ({"units_per_port": 1}, 4, "ports are missing"),
        ({"units_per_tray": 1, "trays_per_server": 1}, 4, "capacity is missing"),
    ],
)
def test_a_job_without_a_division_is_told_what_is_missing(
    changes: dict[str, Any], accelerators: int, missing: str
) -> None:
    data = random_pool(32, 4, 0).model_dump(mode="json")
    data["cluster"]["fabric"] |= changes
    large = {"kind": "transformer_inference", "model": "llama-3.1-405b", "concurrency": 8, "input_tokens": 1024,
             "output_tokens": 128}  # fmt: skip
    data["jobs"] = [{"name": "large", "workload": large, "accelerators": accelerators}]
    result = solve(Instance.parse(data), options=QUICK)
    assert missing in result.left_out[0].reason
