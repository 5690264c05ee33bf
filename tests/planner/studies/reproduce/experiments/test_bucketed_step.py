"""Steps of replicas as candidates: what they exchange, and what hides."""

import numpy as np
import pytest

from planner.studies.reproduce.experiments import bucketed_training
from planner.studies.reproduce.experiments.bucketed_step import ReplicaStep, on_lightpath
from tests.planner.studies.reproduce.experiments.lumorph import bert


@pytest.mark.parametrize("bucket", [1, 25])
def test_candidates_exchange_in_the_buckets_of_their_job(bucket: int) -> None:
    """Rings of candidates, each start and byte reckoned apart: links of a server reach 0.7 of their peak."""
    step = bucketed_training.step_of(bert(), 64, bucket * 1e6)
    buckets = -(-step.gradient_bytes // (bucket * 1e6))
    by_hand_s = buckets * 126 * 0.7e-6 + 2 * 63 / 64 * step.gradient_bytes / (0.7 * 300e9)
    assert step.exchange_s == pytest.approx(by_hand_s, rel=0.02)
    assert step.compute_s == pytest.approx(bucketed_training.step_of(bert(), 256).compute_s)


def test_no_more_hides_than_is_computed() -> None:
    step = ReplicaStep(compute_s=1.0, exchange_s=4.0, gradient_bytes=1.0)
    assert step.after_s(4.0) == 5.0
    assert step.beside_s(np.array([1.0, 4.0])).tolist() == pytest.approx([1.3, 4.0])


@pytest.mark.parametrize("ranks", [32, 64, 256])
def test_photonic_servers_hold_all_ranks(ranks: int) -> None:
    assert on_lightpath(bert().network, ranks).num_devices == ranks
