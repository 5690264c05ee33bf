"""What a draft costs: as much as if its model were served alone, so often."""

from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.pricing.opgraph import OpGraph
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.draft import draft_share, draft_tensor
from costmodel.workloads.transformer.shapes import load_model
from costmodel.workloads.transformer.speculation import Speculation

ROOMY = load_device("h100-sxm").model_copy(update={"capacity_bytes": 1e13})
SERVED: dict[str, Any] = {"concurrency": 16, "input_tokens": 1000, "output_tokens": 200, "max_batch": 16}


def graph(model: str, **fields: Any) -> tuple[TransformerInference, OpGraph]:
    job = TransformerInference.model_validate({"model": model} | SERVED | fields)
    return job, job.op_graph(job.mappings(8), ROOMY)


def step(of: OpGraph, phase: str) -> tuple[np.ndarray, np.ndarray]:
    """Operations and traffic of one step of a phase."""
    return of.alone(phase).flops, of.alone(phase).memory_bytes


@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_a_draft_runs_as_if_it_were_served_alone(phase: str) -> None:
    checks = {"tokens": 3, "acceptance": 0.7}
    _, plain = graph("llama-3.1-70b", speculation=checks)
    _, drafted = graph("llama-3.1-70b", speculation=checks | {"draft_model": "llama-3.1-8b"})
    _, small = graph("llama-3.1-8b")
    guesses, running = 3, (16 if phase == "decode" else 15)
    for with_draft, without, alone, decode in zip(
        step(drafted, phase), step(plain, phase), step(small, phase), step(small, "decode"), strict=True
    ):
        if phase == "decode":
            assert with_draft - without == pytest.approx(guesses * alone)
        else:
            assert np.all(with_draft - without > 2 * decode * running / 16)


def test_a_share_of_the_model_is_charged_as_such() -> None:
    _, plain = graph("llama-3.1-70b")
    checks = {"tokens": 2, "acceptance": 0.7}
    _, free = graph("llama-3.1-70b", speculation=checks)
    job, drafted = graph("llama-3.1-70b", speculation=checks | {"draft_cost": 0.25})
    once = step(plain, "decode")[0]
    assert step(drafted, "decode")[0] - step(free, "decode")[0] == pytest.approx(2 * 0.25 * once)
    held = job.footprint(job.mappings(8))[0] - 2e9 / 0.9
    alone, _ = graph("llama-3.1-70b")
    assert held == pytest.approx(1.25 * (alone.footprint(alone.mappings(8))[0] - 2e9 / 0.9))


def test_ranks_that_do_not_divide_a_draft_hold_it_whole() -> None:
    small = load_model("llama-3.1-8b")
    assert draft_tensor(small, np.array([1.0, 8.0, 32.0, 64.0])).tolist() == [1, 8, 32, 1]


def test_shares() -> None:
    model = load_model("llama-3.1-70b")
    assert draft_share(None, model) == (model, 0.0)
    assert draft_share(Speculation(tokens=1, acceptance=0.5, draft_cost=0.1), model) == (model, 0.1)
    own = Speculation(tokens=1, acceptance=0.5, draft_model="llama-3.1-8b")
    assert draft_share(own, model) == (load_model("llama-3.1-8b"), 1.0)
