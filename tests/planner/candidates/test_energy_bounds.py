"""The least energy of plans that keep a value is never above that of any plan, and near it for many jobs."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.candidates.energy_bounds import least_energy

DEVICES = 16


class Options(SimpleNamespace):
    """As much of a job's options as the bound reads."""

    def __len__(self) -> int:
        return len(self.value)


def options_of(rng: np.random.Generator, rows: int, **fields: Any) -> Any:
    devices = rng.integers(1, 9, rows)
    value = np.sqrt(devices) * rng.uniform(0.5, 1.5, rows)
    energy = devices * rng.uniform(0.5, 2.0, rows)
    told = {"must_run": False, "is_listed": True, "most_value": 0.0} | fields
    return Options(value=value, energy=energy, candidates=SimpleNamespace(num_devices=devices), **told)


def plans_of(jobs: list[Any]) -> list[tuple[float, float]]:
    """Value and energy of every plan that fits."""
    found = []
    for rows in product(*([*range(len(job)), *([] if job.must_run else [None])] for job in jobs)):
        chosen = [(job, row) for job, row in zip(jobs, rows, strict=True) if row is not None]
        if sum(int(job.candidates.num_devices[row]) for job, row in chosen) <= DEVICES:
            found.append(
                tuple(float(sum(getattr(job, what)[row] for job, row in chosen)) for what in ("value", "energy"))
            )
    return found  # type: ignore[return-value]


def most_by_grid(jobs: list[Any], value: float, energy: float) -> float:
    """Best of the bounds at many prices."""
    most = 0.0
    for of_value, of_devices in product(np.linspace(0, 4 * energy, 21), repeat=2):
        least = of_value - of_devices
        for job in jobs:
            reduced = job.energy - of_value * job.value / value + of_devices * job.candidates.num_devices / DEVICES
            least += min(float(reduced.min()), np.inf if job.must_run else 0.0)
        most = max(most, least)
    return most


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_no_plan_of_the_value_takes_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    jobs = [options_of(rng, 4, must_run=bool(rng.integers(0, 4) == 0)) for _ in range(4)]
    plans = plans_of(jobs)
    if not plans:
        return
    for share in (0.7, 1.0):
        value = share * max(value for value, _ in plans)
        least = min(energy for worth, energy in plans if worth >= value - 1e-12)
        bound = least_energy(jobs, DEVICES, value, least)
        assert bound is not None
        assert bound <= least * (1 + 1e-9)
        assert bound >= most_by_grid(jobs, value, least) * (1 - 1e-6)


def test_many_alike_jobs_leave_no_gap() -> None:
    """A hundred jobs, each 1 of value for 2 accelerators and 3 of energy, or 1.5 for 4 and 8, on 250 accelerators."""
    job: Any = Options(
        value=np.array([1.0, 1.5]), energy=np.array([3.0, 8.0]), must_run=False, is_listed=True, most_value=0.0,
        candidates=SimpleNamespace(num_devices=np.array([2, 4])),
    )  # fmt: skip
    assert least_energy([job] * 100, 250, 60.0, 500.0) == pytest.approx(180)
    assert least_energy([job] * 100, 250, 110.0, 500.0) == pytest.approx(300 + 20 * 5.0)


def test_jobs_without_candidates_may_be_worth_their_most_for_nothing() -> None:
    job = options_of(np.random.default_rng(1), 3, is_listed=False, most_value=9.0)
    assert least_energy([job], DEVICES, 5.0, 10.0) == pytest.approx(0.0)


def test_nothing_to_keep_has_no_bound() -> None:
    assert least_energy([options_of(np.random.default_rng(1), 3)], DEVICES, 0.0, 10.0) is None
