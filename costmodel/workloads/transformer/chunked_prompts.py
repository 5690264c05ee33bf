"""Prompts in parts beside running requests: how many steps each takes, and how many requests find room for theirs."""

import numpy as np

from costmodel.parallelism.mappings import Floats
from costmodel.workloads.transformer.inference_spec import InferenceSpec
from costmodel.workloads.transformer.lengths import Lengths


def most_in_step(job: InferenceSpec, lengths: Lengths) -> Floats | float:
    """Requests of which each finds a step for its prompt while the others run: S prompts in the steps of one.

    With S - 1 running, a chunk of c tokens has c - (S - 1) w of a prompt of p, so that a prompt takes
    n = p / (c - (S - 1) w) steps. The others' fit beside N further steps where (S - 1) n <= N.
    """
    further = (lengths.output_tokens - 1) / job.tokens_per_step
    if job.chunk is None:
        return 1.0 + further
    return 1.0 + np.minimum(further, further * job.chunk / (lengths.new_tokens + further * job.tokens_each))


def chunks_of(job: InferenceSpec, slots: Floats, lengths: Lengths) -> Floats:
    """Steps that a prompt takes, shape (K,)."""
    if job.chunk is None:
        return np.ones_like(slots)
    return np.asarray(np.maximum(lengths.new_tokens / (job.chunk - (slots - 1) * job.tokens_each), 1.0))
