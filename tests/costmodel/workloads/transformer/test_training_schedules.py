"""Schedules of pipelines: bubble and memory against the tables of their papers, and what they allow."""

from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.opgraph import OpGraph
from costmodel.workloads import TransformerTraining

H100 = load_device("h100-sxm")
FORWARD, INPUTS, WEIGHTS = 1.0, 1.0, 1.0
"""passes of equal length, as the papers draw them"""
PAIR = FORWARD + INPUTS + WEIGHTS


def job(schedule: str, **fields: Any) -> TransformerTraining:
    base = {"model": "gpt3-175b", "global_batch": 64, "sequence": 2048, "micro_batch": 1, "schedule": schedule}
    return TransformerTraining.model_validate(base | fields)


def graph(schedule: str, pipeline: int, model: str = "gpt3-175b") -> OpGraph:
    mapping = Mappings.of(tensor=8, pipeline=pipeline, data=1, micro_batch=1, sequence_parallel=1)
    return job(schedule, model=model).op_graph(mapping, H100)


@pytest.mark.parametrize("pipeline", [2, 4, 8, 16])
def test_bubbles_are_those_of_the_papers(pipeline: int) -> None:
    """Qi et al. 2024, table 2, and DeepSeek-AI 2024, table 2; of 64 micro-batches."""
    busy = 64 * PAIR
    waits = {
        "1f1b": (pipeline - 1) * PAIR,
        "zero_bubble": (pipeline - 1) * (FORWARD + INPUTS - WEIGHTS),
        "dual_pipe": (pipeline / 2 - 1) * (PAIR + (INPUTS + WEIGHTS) - 3 * WEIGHTS),
    }
    for schedule, wait in waits.items():
        assert float(graph(schedule, pipeline).bubble[0]) == pytest.approx(wait / busy), schedule


def test_memory_is_that_of_the_papers() -> None:
    """ZB-H1 keeps what 1F1B does; DualPipe holds two stages and one more micro-batch."""
    plain, zero, dual = (float(graph(name, 8).footprint_bytes[0]) for name in ("1f1b", "zero_bubble", "dual_pipe"))
    assert zero == plain
    hidden, layers = 12288, 12
    parameters = layers * (12 * hidden**2 / 8 + 2 * hidden) + 51200 * hidden / 8
    one_batch = layers * 2048 * hidden * (32 / 8)
    assert dual - plain == pytest.approx(6 * parameters + one_batch, rel=0.03)


def test_only_1f1b_interleaves_and_dual_pipe_feeds_both_ends() -> None:
    for schedule in ("zero_bubble", "dual_pipe"):
        mappings = job(schedule, interleave=(1, 2)).mappings(64)
        assert set(mappings.interleave.tolist()) == {1}
    mappings = job("dual_pipe", global_batch=32).mappings(64)
    micro_batches = 32 // (mappings.data * mappings.micro_batch)
    is_piped = mappings.pipeline > 1
    assert is_piped.any()
    assert not (mappings.pipeline[is_piped] % 2).any()
    assert np.all(micro_batches[is_piped] >= 2 * mappings.pipeline[is_piped])


def test_expert_messages_pass_beside_the_other_direction() -> None:
    assert np.all(np.asarray(graph("dual_pipe", 4, "mixtral-8x7b").overlap["expert"]) > 0.9)
    assert "expert" not in graph("zero_bubble", 4, "mixtral-8x7b").overlap


def test_processors_that_send_do_not_compute() -> None:
    """20 of 132 where experts' tokens pass beside products, in the share of time that compute binds."""
    dense, routed = (graph("dual_pipe", 4, model) for model in ("gpt3-175b", "mixtral-8x7b"))
    assert np.all(np.asarray(dense.processors) == 1)
    assert np.all(np.asarray(routed.processors) == 1)
    mapping = Mappings.of(tensor=1, pipeline=4, data=8, expert=8, micro_batch=1, sequence_parallel=1)
    sends = job("dual_pipe", model="mixtral-8x7b").op_graph(mapping, H100)
    assert float(np.min(sends.processors)) == pytest.approx(112 / 132)
