"""Which plans compare in what they do and take: those that run as many jobs as any of them."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

AMONG_MOST_JOBS = (
    "tokens_per_s", "samples_per_s", "energy", "power_w", "joules_per_token", "joules_per_sample", "cost_per_h",
    "cost_per_million_tokens", "cost_per_million_samples", "fragmentation",
)  # fmt: skip
"""figures that grow with the jobs that run, or depend on which those are"""
RULE = (
    "Throughput, energy, power, fragmentation and cost compare only among plans that run as many jobs as any beside "
    "them"
)
SAME = 1e-9
"""fraction of a mean within which two are the same"""
Key = TypeVar("Key", bound=Hashable)


def with_most_jobs(admitted: Mapping[Key, float]) -> list[Key]:
    """Of plans by their number of jobs, a mean over seeds, those that AMONG_MOST_JOBS compare among."""
    most = max(admitted.values(), default=0.0)
    return [key for key, jobs in admitted.items() if jobs >= most * (1 - SAME)]


def runs_fewer(name: str, admitted: float, jobs: int) -> str:
    """sipac0 runs 2 of 4 jobs."""
    return f"{name} runs {admitted:.4g} of {jobs:,} jobs"
