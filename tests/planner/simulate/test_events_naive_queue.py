"""Whole replays are those of a naive queue that shares nothing with the simulator."""

from functools import cache
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.placement.job_classes import Site
from planner.placement.job_mix import Mix
from planner.simulate.events import Simulation
from planner.simulate.log import Log
from planner.simulate.measures import figures
from planner.simulate.placers import PLACERS
from planner.simulate.rules import Rules
from planner.simulate.runs import Jobs
from tests.planner.simulate.grounds import FAT_TREE, cluster, ground, state_of
from tests.planner.simulate.naive_queue import NaiveQueue

ONE_USER: dict[str, Any] = {
    "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 1, "input_tokens": 512,
    "output_tokens": 128,
}  # fmt: skip
"""one prompt at a time is divided within a server alone, and over pipeline stages"""
SERVERS = [(8, 1), (1, 8), (3, 4), (5, 2)]
"""servers, and accelerators of each"""
SIZES = [1, 2, 4, 8]
Row = tuple[float, float, int]
"""arrival and duration in seconds, accelerators"""


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    """Jobs in the order of arrival, at whole seconds, where much happens at once, or at eighths."""
    ticks_per_s = draw(st.sampled_from([1, 8]))
    ticks, size = st.integers(1, 12 * ticks_per_s), st.sampled_from(SIZES)
    gaps = st.integers(0, 3 * ticks_per_s)
    drawn = draw(st.lists(st.tuples(gaps, ticks, size), min_size=20, max_size=30))
    arrivals = accumulate(gap for gap, _, _ in drawn)
    return [(at / ticks_per_s, long / ticks_per_s, size) for at, (_, long, size) in zip(arrivals, drawn, strict=True)]


@cache
def _site(servers: int, gpus: int) -> Site:
    mix = Mix.model_validate(
        {
            "name": "m", "reference": {"device": "h100-sxm", "fabric": FAT_TREE}, "durations": "recorded",
            "workloads": [{"name": "chat", "workload": ONE_USER}],
        }
    )  # fmt: skip
    return ground("g", cluster("fat_tree", servers=servers, gpus_per_server=gpus), SIZES, mix)


def _replayed(site: Site, rows: list[Row], discipline: Literal["easy", "fifo"], policy: str) -> tuple[Log, float]:
    """The record of a replay, and the utilization from a quarter of the time to the last arrival."""
    arrival_s, work_s, size = (list(column) for column in zip(*rows, strict=True))
    kinds = [site.kinds[0, each] for each in size]
    jobs = Jobs(arrival_s, work_s, kinds, [SIZES.index(each) for each in size], [0] * len(rows), SIZES)
    log = Log(len(jobs), arrival_s[-1] / 4, arrival_s[-1])
    Simulation(jobs, lambda state: PLACERS[policy](state, 0), state_of(site.cluster), Rules(discipline), log).run()
    found = figures(log, jobs, np.zeros(len(rows), dtype=np.int64), site.capacity)["utilization"]
    return log, found or 0.0


@pytest.mark.parametrize("servers", SERVERS)
@given(rows=rows(), policy=st.sampled_from(["first_fit", "best_fit"]), discipline=st.sampled_from(["easy", "fifo"]))
@settings(max_examples=60)
def test_every_job_starts_and_ends_as_in_a_naive_queue(
    servers: tuple[int, int], rows: list[Row], policy: str, discipline: Literal["easy", "fifo"]
) -> None:
    arrival_s, duration_s, size = (list(column) for column in zip(*rows, strict=True))
    naive = NaiveQueue(arrival_s, duration_s, size, *servers, discipline == "easy", policy == "best_fit")
    naive.run()
    log, utilization = _replayed(_site(*servers), rows, discipline, policy)
    expected_s = [naive.start_s[job] for job in range(len(rows))]
    assert log.start_s == expected_s
    assert log.finish_s == [start_s + long_s for start_s, long_s in zip(expected_s, duration_s, strict=True)]
    if arrival_s[-1] > 0:
        assert utilization == pytest.approx(naive.utilization(arrival_s[-1] / 4, arrival_s[-1]))
