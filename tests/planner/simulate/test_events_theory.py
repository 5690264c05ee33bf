"""Replays agree with what is known exactly: Kaufman and Roberts without a queue, Pollaczek and Khinchine with one."""

import numpy as np
import pytest

from planner.placement.job_classes import Site
from planner.simulate.rules import Rules
from planner.simulate.run_one import Demand, SimulationRun, Study, replay
from planner.simulate.trace import Trace
from planner.statistics import estimate
from planner.studies.fragmentation.kaufman_roberts import kaufman_roberts
from planner.studies.fragmentation.loss_system import draw_traffic
from tests.planner.simulate.grounds import cluster, ground, mix, trace

SEEDS = 8
MIX = mix("recorded", chat=False)


def _replayed(jobs: list[Trace], of: Site, rules: Rules, *names: str, policy: str = "first_fit") -> np.ndarray:
    """Measures of each replication, shape (seeds, names)."""
    able = {size: [0] for _, size in of.kinds}
    rows = []
    for given in jobs:
        study = Study(Demand(given, None, MIX, able), {"g": of}, rules, samples=0)
        figures = replay(study, SimulationRun("g", policy, None, 0)).figures
        rows.append([figures[name] for name in names])
    return np.array(rows, dtype=np.float64)


def _agrees(samples: np.ndarray, exact: list[float], widths: float = 1.3) -> None:
    """Inside the interval, widened so that sound code passes about always."""
    found = estimate(samples)
    assert (np.abs(found.mean - exact) <= widths * found.half_width).all(), (found, exact)


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.6, 1.1])
def test_a_loss_system_admits_what_kaufman_and_roberts_say(load: float) -> None:
    sizes, weights = [1, 2, 4, 8], [8, 4, 2, 1]
    drawn = [draw_traffic(sizes, weights, load, 32, 4000, seed) for seed in range(SEEDS)]
    jobs = [trace((d.arrival * 1000).tolist(), (d.holding * 1000).tolist(), d.size.tolist()) for d in drawn]
    exact = kaufman_roberts(sizes, weights, load, 32)
    of = ground("g", cluster("fat_tree"), sizes, MIX)
    samples = _replayed(jobs, of, Rules("loss"), "admitted", "utilization")
    _agrees(samples, [exact.jobs, exact.utilization])


@pytest.mark.slow
@pytest.mark.parametrize("discipline", ["fifo", "easy"])
@pytest.mark.parametrize(("law", "scv"), [("exponential", 1.0), ("fixed", 0.0)])
def test_one_server_waits_as_pollaczek_and_khinchine_say(discipline: str, law: str, scv: float) -> None:
    rho, mean_s = 0.6, 100.0
    jobs = []
    for seed in range(SEEDS):
        generator = np.random.default_rng(100 + seed)
        arrival = np.cumsum(generator.exponential(mean_s / rho, 3000))
        duration = generator.exponential(mean_s, 3000) if law == "exponential" else np.full(3000, mean_s)
        jobs.append(trace(arrival.tolist(), duration.tolist(), [8] * 3000))
    of = ground("g", cluster("fat_tree", servers=1), [8], MIX)
    samples = _replayed(jobs, of, Rules(discipline), "wait_s_mean", "utilization", "queue")  # type: ignore[arg-type]
    lindley = [_mean_wait_s(each.arrival_s, each.duration_s) for each in jobs]
    assert samples[:, 0] == pytest.approx(np.array(lindley))
    wait_s = rho / (1 - rho) * mean_s * (1 + scv) / 2
    _agrees(samples, [wait_s, rho, wait_s * rho / mean_s])


def _mean_wait_s(arrival_s: np.ndarray, duration_s: np.ndarray) -> float:
    """By the recursion of Lindley, over the jobs that arrive after a tenth of the time."""
    waits = [0.0]
    for gap_s, before_s in zip(np.diff(arrival_s), duration_s, strict=False):
        waits.append(max(0.0, waits[-1] + before_s - gap_s))
    since_s = arrival_s - arrival_s[0]
    return float(np.array(waits)[since_s >= 0.1 * since_s[-1]].mean())
