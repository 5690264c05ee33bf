"""Prompts in parts, counted step by step."""

import numpy as np
import pytest

from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.chunked_prompts import chunks_of, most_in_step
from costmodel.workloads.transformer.lengths import Lengths

LENGTHS = Lengths(900.0, 900.0, 101.0)


def job(chunk: int | None) -> TransformerInference:
    return TransformerInference(model="llama-3.1-8b", concurrency=64, input_tokens=900, output_tokens=101, chunk=chunk)


def test_without_chunks_a_prompt_takes_one_step() -> None:
    assert most_in_step(job(None), LENGTHS) == 101
    assert (chunks_of(job(None), np.array([1.0, 50.0]), LENGTHS) == 1).all()


@pytest.mark.parametrize("chunk", [64, 128, 512])
def test_as_many_run_as_find_steps_for_their_prompts(chunk: int) -> None:
    most = float(most_in_step(job(chunk), LENGTHS))
    for running in range(1, int(most) + 1):
        steps = float(chunks_of(job(chunk), np.array([float(running)]), LENGTHS)[0])
        assert steps == pytest.approx(max(900 / (chunk - (running - 1)), 1.0))
        assert (running - 1) * steps <= 100 * (1 + 1e-9)
    assert (most - 1) * 900 / (chunk - (most - 1)) == pytest.approx(100)
