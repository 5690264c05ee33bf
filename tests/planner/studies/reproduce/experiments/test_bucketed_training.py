"""All-reduce times and bucketed training on Lumorph, recomputed from plain arithmetic, round by round."""

import numpy as np
import pytest

from planner.studies.reproduce.experiments import bucketed_training
from planner.studies.reproduce.experiments.bucketed_training import READINGS
from tests.planner.studies.reproduce.experiments.lumorph import SCALARS, bert, halved, lumorph, outcome, ring


@pytest.mark.slow
@pytest.mark.parametrize("name", ["collectives", "bert"])
def test_nothing_required_is_outside(name: str) -> None:
    rows = outcome(name).rows
    assert [row.quantity for row in rows if row.is_failure] == []
    assert {row.verdict for row in rows if row.required} <= {"reproduced", "fitted", "contradicted"}


def times(name: str, n: int, bucket: float) -> list[float]:
    """Time of a step under each reading, bucket by bucket."""
    step = bucketed_training.step_of(bert(), n)
    left, alone = step.gradient_bytes, 0.0
    while left > 0:
        sent = min(bucket, left)
        left -= sent
        alone += SCALARS[name](sent, n)
    beside = step.compute_s + alone - min(0.7 * alone, step.compute_s)
    return [SCALARS[name](bucket, n), alone, step.compute_s + alone, beside]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unpipelined tree", "pipelined tree", "Lumorph-2", "Lumorph-4"])
@pytest.mark.parametrize(("n", "bucket"), [(32, 1), (64, 8), (128, 21), (256, 54)])
def test_speedups_over_a_ring(name: str, n: int, bucket: int) -> None:
    over, ours = times("ring", n, bucket * 1e6), times(name, n, bucket * 1e6)
    found = outcome("bert").quantities
    for reading, theirs_s, ours_s in zip(READINGS, over, ours, strict=True):
        quantity = f"speed-up of {name}, {reading}, {n} GPUs, {bucket} MB"
        assert found[quantity] == pytest.approx(theirs_s / ours_s, rel=1e-9)


@pytest.mark.parametrize("n", [64, 128, 256])
def test_bucket_that_gives_what_is_published(n: int) -> None:
    expected = halved(lambda size: ring(size, n) - 1.7 * lumorph(4, size, n), 1e6, 1e8)
    found = outcome("bert").quantities
    assert found[f"exact bucket of Lumorph-4, {n} GPUs"] == pytest.approx(expected, rel=1e-6)
    assert found[f"largest bucket of Lumorph-4, full buckets, {n} GPUs"] == expected // 1e6 * 1e6


def test_on_32_gpus_it_is_never_reached() -> None:
    found = outcome("bert").quantities
    assert found["speed-up of Lumorph-4, empty buckets, 32 GPUs"] == pytest.approx(62 * 0.7 / (6 * 4.4))
    assert not [name for name in found if name.startswith("exact bucket of Lumorph-4, 32")]
    for reading in READINGS:
        assert found[f"largest bucket of Lumorph-4, {reading}, 32 GPUs"] == 0


def test_compute_time_leaves_less_to_gain() -> None:
    for n in (64, 128, 256):
        curves = bucketed_training.curves(bert(), n, bert().sweep_bytes())
        of = {curve.reading: curve.speedup for curve in curves if curve.algorithm == "Lumorph-4"}
        assert np.all(of["after the backward pass"] < of["communication alone"])
        assert np.all(np.abs(np.diff(of["full buckets"])) > 0)
