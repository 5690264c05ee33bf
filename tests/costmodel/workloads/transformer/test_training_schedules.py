"""Schedules of pipelines: bubble and memory against the tables of their papers, and what they allow."""

from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.parallelism.configuration import Configuration
from costmodel.parallelism.mappings import RECOMPUTE, SCHEDULES, Mappings
from costmodel.pricing.opgraph import OpGraph
from costmodel.workloads import TransformerTraining
from tests.oracles.pipelines import Lengths, dual_pipe, zero_bubble

H100 = load_device("h100-sxm")
FORWARD, INPUTS, WEIGHTS = 1.0, 1.0, 1.0
"""passes of equal length, as the papers draw them"""
PAIR = FORWARD + INPUTS + WEIGHTS


def job(schedule: str, **fields: Any) -> TransformerTraining:
    base = {"model": "gpt3-175b", "global_batch": 64, "sequence": 2048, "micro_batch": 1, "schedule": schedule}
    return TransformerTraining.model_validate(base | fields)


def graph(schedule: str, pipeline: int, model: str = "gpt3-175b") -> OpGraph:
    columns = {"tensor": 8, "pipeline": pipeline, "micro_batch": 1, "sequence_parallel": 1}
    mapping = Mappings.of(**columns, schedule=SCHEDULES.index(schedule))
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


def passes(schedule: str, pipeline: int, micro_batches: int, recompute: str = "none") -> float:
    """Bubble in passes of a stage, forward and backward."""
    mapping = Mappings.of(
        pipeline=pipeline,
        micro_batch=1,
        recompute=RECOMPUTE.index(recompute),
        schedule=SCHEDULES.index(schedule),
    )
    fields = {"model": "gpt3-175b", "global_batch": micro_batches, "sequence": 2048, "schedule": schedule}
    workload = TransformerTraining.model_validate(fields | {"recompute": recompute})
    return float(workload.op_graph(mapping, H100).bubble[0]) * micro_batches


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("pipeline", [2, 3, 4, 7])
def test_zero_bubble_waits_as_long_as_when_played_through(pipeline: int, recompute: str) -> None:
    """Recomputed passes come before the gradients of inputs; few micro-batches fill less of the wait."""
    length = Lengths(inputs=2 if recompute == "full" else 1)
    for micro_batches in (1, 2, pipeline, pipeline + 1, 3 * pipeline):
        waits = zero_bubble(pipeline, micro_batches, length).waits
        found = passes("zero_bubble", pipeline, micro_batches, recompute) * length.all
        assert found == pytest.approx(max(waits)), micro_batches
        assert len(set(waits)) == 1


@pytest.mark.parametrize("pipeline", [2, 4, 8])
def test_dual_pipe_waits_and_holds_as_when_played_through(pipeline: int) -> None:
    for micro_batches in (2 * pipeline, 2 * pipeline + 2, 4 * pipeline):
        played = dual_pipe(pipeline, micro_batches, Lengths())
        assert set(played.waits) == {round(passes("dual_pipe", pipeline, micro_batches) * 3)}
        assert set(played.held) == {pipeline + 1}
        again = max(dual_pipe(pipeline, micro_batches, Lengths(inputs=2)).waits)
        published = passes("dual_pipe", pipeline, micro_batches, "full") * 4
        assert again <= published <= again + 1


def test_memory_is_that_of_the_papers() -> None:
    """ZB-H1 holds as many micro-batches on each stage as 1F1B on its first, beside logits on the last; DualPipe two
    stages, one more micro-batch, and logits."""
    played = zero_bubble(8, 64, Lengths())
    assert set(played.held) == {8}
    assert played.whole == [8, 7, 6, 5, 4, 3, 2, 1]
    plain, zero, dual = (float(graph(name, 8).footprint_bytes[0]) for name in ("1f1b", "zero_bubble", "dual_pipe"))
    hidden, layers = 12288, 12
    logits = 2048 * 51200 / 8 * 4.1
    assert zero - plain == pytest.approx(logits, rel=1e-6)
    parameters = layers * (12 * hidden**2 / 8 + 2 * hidden) + 51200 * hidden / 8
    one_batch = layers * 2048 * hidden * (32 / 8)
    assert dual - plain == pytest.approx(6 * parameters + one_batch + logits, rel=0.03)


def test_both_holders_of_a_stage_of_dual_pipe_exchange_what_they_have() -> None:
    """Twice the gradients over the data ranks, then its share with the other holder, along the pipeline."""
    columns = {"tensor": 8, "pipeline": 8, "data": 4, "micro_batch": 1, "sequence_parallel": 1}
    sent = {}
    for schedule in ("1f1b", "dual_pipe"):
        mapping = Mappings.of(**columns, schedule=SCHEDULES.index(schedule))
        for _, message, size, number in job(schedule).op_graph(mapping, H100).messages_of(0):
            sent[schedule, message.name] = size * number
    assert sent["dual_pipe", "gradients"] == pytest.approx(2 * sent["1f1b", "gradients"])
    assert sent["dual_pipe", "parameters"] == pytest.approx(2 * sent["1f1b", "parameters"])
    parameters = sent["1f1b", "gradients"] / 4 / 0.5
    assert sent["dual_pipe", "between holders of a stage"] == pytest.approx((4 + 2) * parameters / 4 * (8 / 2))
    assert sent["dual_pipe", "vocabulary all-reduce"] == pytest.approx(sent["1f1b", "vocabulary all-reduce"] / 2)


@pytest.mark.parametrize(
    ("framework", "schedules"),
    [
        ("", ("1f1b",)),
        ("nemo-23.04", ("1f1b",)),
        ("torchtitan", ("1f1b", "zero_bubble")),
        ("deepseek", ("1f1b", "dual_pipe")),
    ],
)
def test_a_framework_says_which_schedules_there_are(framework: str, schedules: tuple[str, ...]) -> None:
    workload = TransformerTraining(model="mixtral-8x7b", global_batch=64, sequence=2048, framework=framework)
    assert workload.menus()["schedule"] == tuple(map(SCHEDULES.index, schedules))
    pinned = workload.model_copy(update={"schedule": "zero_bubble"})
    assert pinned.menus()["schedule"] == (1,)


def test_listed_schedules_are_candidates_each_and_are_written() -> None:
    """Without a pipeline there is one; what is not the first of the list is said."""
    workload = TransformerTraining.model_validate(
        {"model": "mixtral-8x7b", "global_batch": 64, "sequence": 2048, "schedule": ["1f1b", "zero_bubble"]}
    )
    m = workload.mappings(16)
    assert set(m.schedule[m.pipeline > 1].tolist()) == {0, 1}
    assert set(m.schedule[m.pipeline == 1].tolist()) == {0}
    menus = workload.menus()
    for row in np.flatnonzero(m.pipeline == 4)[:20].tolist():
        written = Configuration.of_choice(m.choice(row), menus, block=1)
        assert written.schedule == (None if m.schedule[row] == 0 else "zero_bubble")
        assert written.choice(menus) == m.choice(row)


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
    columns = {"pipeline": 4, "data": 8, "expert": 8, "sequence_parallel": 1}
    mapping = Mappings.of(**columns, schedule=SCHEDULES.index("dual_pipe"))
    sends = job("dual_pipe", model="mixtral-8x7b").op_graph(mapping, H100)
    assert float(np.min(sends.processors)) == pytest.approx(112 / 132)
