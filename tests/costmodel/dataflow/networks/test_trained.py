"""Training is placed and evaluation stays as scored: no wait for a copy, and both together are the scored step."""

import numpy as np
import pytest

from costmodel.dataflow.networks.least_step import least_step_s
from costmodel.dataflow.networks.trained import Trained, rank_step_of
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.workloads import TransformerTraining
from tests.costmodel.dataflow.networks.small_model import FABRIC, SHAPE

DEVICE = load_device("h100-sxm").model_copy(update={"offload": load_memory_tier("host-pcie5")})
FIELDS = {
    "model": SHAPE,
    "global_batch": 8,
    "sequence": 512,
    "micro_batch": 1,
    "offload": ("none", "optimizer", "weights+activations"),
}


@pytest.mark.parametrize("batches", [1, 40])
def test_the_step_of_training_is_that_of_a_job_that_never_evaluates(batches: int) -> None:
    plain, both = (
        TransformerTraining.model_validate(FIELDS | more)
        for more in ({}, {"evaluation": {"every": 20, "batches": batches}})
    )
    rows = [enumerate_candidates(job, [1, 2, 4], DEVICE, FABRIC) for job in (plain, both)]
    alone, whole = (score(each, DEVICE, FABRIC) for each in rows)
    trained = Trained.of(rows[1], whole, DEVICE, FABRIC)
    np.testing.assert_allclose(trained.scores.step_s, alone.step_s, rtol=1e-12)
    np.testing.assert_allclose(trained.least_step_s() - trained.other_s, least_step_s(rows[0], alone), rtol=1e-9)
    seen = 0
    for row in range(len(rows[1])):
        step, other = trained.rank_step(row), Trained.of(rows[0], alone, DEVICE, FABRIC).rank_step(row)
        assert (step is None) == (other is None)
        if step is None or other is None:
            continue
        np.testing.assert_allclose(step.program.operator_s, other.program.operator_s, rtol=1e-9)
        assert step.local_bytes == other.local_bytes
        assert step.scored_s == pytest.approx(float(whole.step_s[row]))
        assert step.other_s == pytest.approx(float(whole.step_s[row] - alone.step_s[row]))
        assert step.other_s > 0
        named = rank_step_of(rows[1].configuration(row), both, DEVICE, FABRIC)
        assert named is not None
        assert named.other_s == pytest.approx(step.other_s)
        seen += 1
    assert seen > 5
