"""What a plan's prices rest on, on few lines."""

import pytest

from planner.cli.tables.fit_lines import JOBS_OUTSIDE, KERNELS_OUTSIDE, MOST_OUTSIDE, fit_lines
from planner.model.instance import Instance
from planner.pipeline import solve

SERVED = {"kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 32, "output_tokens": 512}
FABRIC = {
    "kind": "fat_tree", "servers": 4, "gpus_per_server": 8, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
    "nvlink_energy": "5 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip


def lines(inputs: list[int], device: str = "h100-sxm") -> list[str]:
    jobs = [
        {"name": f"j{i}", "workload": SERVED | {"input_tokens": tokens}, "accelerators": 1}
        for i, tokens in enumerate(inputs)
    ]
    cluster = {"device": device, "fabric": FABRIC}
    instance = Instance.parse({"schema_version": 2, "name": "lines", "cluster": cluster, "jobs": jobs})
    plan = solve(instance, policy="first_fit").plan
    assert plan is not None
    return fit_lines(instance, plan)


def test_jobs_inside_what_was_fitted_need_no_line_and_alike_ones_share_one() -> None:
    assert not any(JOBS_OUTSIDE in line for line in lines([2048]))
    (told,) = (line for line in lines([64, 64, 2048]) if JOBS_OUTSIDE in line)
    assert told.startswith("j0 and j1: ")
    assert "64 tokens in" in told


@pytest.mark.parametrize("number", [6])
def test_many_ways_of_being_outside_are_counted(number: int) -> None:
    found = [line for line in lines([10 + i for i in range(number)]) if KERNELS_OUTSIDE not in line]
    outside = [line for line in found if JOBS_OUTSIDE in line]
    assert len(outside) <= MOST_OUTSIDE
    assert any("more job" in line for line in found)
