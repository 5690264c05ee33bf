"""Drawn demand follows its numbers, and the catalog's numbers follow the public trace."""

import numpy as np
import pytest
from pydantic import ValidationError

from planner.simulate.demand import DAY_S, DemandModel, load_demand
from planner.simulate.trace import Trace, read_trace
from tests.planner.simulate.grounds import SMALL_DEMAND
from tests.planner.simulate.trace_cases import PHILLY

STEADY = {"name": "s", "mean_gap": 10, "durations": [{"seconds": {0: 1, 1: 100}}]}


def _dispersion(arrival_s: np.ndarray, width_s: float) -> float:
    """Variance over mean of the arrivals of each interval."""
    counts = np.bincount(((arrival_s - arrival_s[0]) // width_s).astype(np.int64))
    return float(counts.var() / counts.mean())


def test_a_seed_gives_the_same_jobs() -> None:
    first, again, other = SMALL_DEMAND.draw(300, 1), SMALL_DEMAND.draw(300, 1), SMALL_DEMAND.draw(300, 2)
    assert first.arrival_s.tolist() == again.arrival_s.tolist() != other.arrival_s.tolist()
    assert (np.diff(first.arrival_s) >= 0).all()


def test_steady_arrivals_are_poisson() -> None:
    drawn = DemandModel.model_validate(STEADY | {"sizes": {1: 3, 4: 1}}).draw(40_000, 0)
    gaps = np.diff(drawn.arrival_s)
    assert gaps.mean() == pytest.approx(10, rel=0.03)
    assert gaps.std() == pytest.approx(10, rel=0.03)
    assert (drawn.num_gpus == 4).mean() == pytest.approx(0.25, abs=0.01)
    assert np.log(drawn.duration_s).mean() == pytest.approx(np.log(100) / 2, rel=0.02)


def test_arrivals_swing_with_the_day() -> None:
    model = DemandModel.model_validate(STEADY | {"sizes": {1: 1}, "daily_swing": 0.8, "daily_peak": 18 * 3600})
    hour = model.draw(100_000, 0).arrival_s % DAY_S // 3600
    share = np.bincount(hour.astype(np.int64), minlength=24) / len(hour) * 24
    assert share[17:19].mean() == pytest.approx(1.8, abs=0.15)
    assert share[5:7].mean() == pytest.approx(0.2, abs=0.1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"durations": [{"seconds": {0.5: 1, 1: 2}}]}, "probability 0 and 1"),
        ({"durations": [{"seconds": {0: 5, 1: 2}}]}, "must not fall"),
        ({"durations": [{"up_to": 4, "seconds": {0: 1, 1: 2}}]}, "ascending"),
        ({"burst": {"jobs": 5, "dispersion": 2, "gap": 1}}, "dispersion"),
        ({"sizes": {1: 0}}, "sizes: all shares are 0"),
    ],
)
def test_wrong_numbers_are_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        DemandModel.model_validate(STEADY | change)


@pytest.fixture(scope="module")
def philly() -> Trace:
    if not PHILLY.is_file():
        pytest.skip("shared/traces/philly.csv is not beside the repository")
    return read_trace(PHILLY)


@pytest.fixture(scope="module")
def drawn() -> Trace:
    return load_demand().draw(82_247, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 2), (4, 8), (12, 128)])
def test_durations_follow_the_public_trace(philly: Trace, drawn: Trace, low: int, high: int) -> None:
    def of(jobs: Trace) -> np.ndarray:
        return jobs.duration_s[(jobs.num_gpus >= low) & (jobs.num_gpus <= high)]

    for probability in (0.25, 0.5, 0.75, 0.9):
        apart = np.mean(of(drawn) <= np.quantile(of(philly), probability)) - probability
        assert abs(apart) < (0.02 if low == 1 else 0.08)
    assert of(drawn).mean() == pytest.approx(of(philly).mean(), rel=0.35)


def test_sizes_tenants_and_arrivals_follow_the_public_trace(philly: Trace, drawn: Trace) -> None:
    for size in np.unique(philly.num_gpus):
        share = np.mean(philly.num_gpus == size)
        assert np.mean(drawn.num_gpus == size) == pytest.approx(share, rel=0.1, abs=2e-4)
    busiest = [np.sort(np.unique(jobs.tenant, return_counts=True)[1])[::-1][:4] / len(jobs) for jobs in (philly, drawn)]
    assert busiest[1] == pytest.approx(busiest[0], abs=0.06)
    dense = philly.arrival_s[philly.arrival_s >= 20 * DAY_S]
    assert np.diff(drawn.arrival_s).mean() == pytest.approx(np.diff(dense).mean(), rel=0.25)
    assert 0.3 < _dispersion(drawn.arrival_s, 3600) / _dispersion(dense, 3600) < 3


def test_slices_are_drawn_by_name() -> None:
    model = DemandModel.model_validate(
        {
            "name": "m",
            "slices": {"4x4x8": 3, "1x2x2": 1, "4x8x4": 1},
            "mean_gap": 60,
            "durations": [{"seconds": {0: 1, 1: 9}}],
        }
    )
    drawn = model.draw(4000, 2)
    assert drawn.shape is not None
    assert model.shapes == drawn.shapes == ["1x2x2", "4x4x8", "4x8x4"]
    assert model.shares == {128: 4, 4: 1}
    assert set(zip(drawn.shape.tolist(), drawn.num_gpus.tolist(), strict=True)) == {
        ("4x4x8", 128),
        ("1x2x2", 4),
        ("4x8x4", 128),
    }
    assert np.mean(drawn.shape == "4x4x8") == pytest.approx(0.6, abs=0.03)


@pytest.mark.parametrize(
    ("slices", "told"),
    [({"4x4": 1}, "'4x4' is no box"), ({"4x4x4": 0}, "slices: all shares are 0"), ({"99999x99999x9": 1}, "more than")],
)
def test_slices_that_are_no_boxes_are_refused(slices: dict[str, float], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        DemandModel.model_validate(STEADY | {"slices": slices})


def test_slices_and_sizes_are_not_both_given() -> None:
    with pytest.raises(ValidationError, match="not both"):
        DemandModel.model_validate(STEADY | {"slices": {"1x1x1": 1}, "sizes": {1: 1}})
