"""Figures of one replay from its log."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.replay.log import HOUR_S, Log
from planner.replay.runs import Jobs

Floats = NDArray[np.float64]
SHORT_S = 10.0
"""slowdown is over this at least, so that jobs of seconds do not rule its mean (bounded slowdown)"""
PERCENTILES = (50, 95, 99)


class Measure(NamedTuple):
    """One figure."""

    unit: str
    meaning: str


def _times(name: str, meaning: str, unit: str) -> dict[str, Measure]:
    labels = {"mean": "mean", **{f"p{p}": f"{p}th percentile of the" for p in PERCENTILES}}
    return {f"{name}_{label}": Measure(unit, f"{words} {meaning}") for label, words in labels.items()}


MEASURES: dict[str, Measure] = {
    "admitted": Measure("", "share of the jobs that ran"),
    "goodput_h": Measure("h", "accelerator-hours of the reference whose work was done"),
    "goodput": Measure("", "the same over accelerators and time: above the utilization where jobs run faster"),
    "utilization": Measure("", "share of the accelerators held by jobs"),
    **_times("wait_s", "time from arrival to start", "s"),
    **_times("completion_s", "time from arrival to end", "s"),
    **_times("slowdown", "time from arrival to end over the recorded duration, or 10 s", ""),
    "queue": Measure("", "mean number of waiting jobs"),
    "stranded": Measure("", "share of the free accelerators left while a waiting job asked for no more than were free"),
    "fragmentation": Measure("", "mean of the objective, where the fabric has it"),
    "power_w": Measure("W", "mean power of the jobs"),
    "energy_j_per_s": Measure("J/s", "joules for what an accelerator of the reference does in a second"),
    "fairness": Measure("", "Jain index over tenants of the mean 1 / slowdown, refused jobs counting 0"),
    "reconfigurations": Measure("", "starts and moves of jobs that set optical circuits"),
    "moves": Measure("", "running jobs that were placed elsewhere"),
    "interruptions": Measure("", "running jobs that lost a part to a failure"),
    "never_fit": Measure("", "jobs for which the empty cluster has no place"),
}
TIMINGS: dict[str, Measure] = {
    "decision_s_p50": Measure("s", "median wall time of the decisions of one event"),
    "decision_s_p99": Measure("s", "99th percentile of the same"),
    "events_per_s": Measure("1/s", "events of the replay in a second of processor time"),
}
"""figures of the machine that runs the replay: the only ones that differ from run to run"""


def figures(log: Log, jobs: Jobs, tenants: NDArray[np.int64], capacity: int) -> dict[str, float | None]:
    """MEASURES by name; None where nothing is known. Jobs count that arrive while the log does."""
    arrival_s, work_s = np.array(jobs.arrival_s), np.array(jobs.work_s)
    start_s, finish_s = np.array(log.start_s), np.array(log.finish_s)
    counts = (arrival_s >= log.begin_s) & (arrival_s <= log.end_s)
    ran = counts & ~np.isnan(start_s)
    done = counts & ~np.isnan(finish_s)
    took_s = (finish_s - arrival_s)[done]
    slowdown = np.maximum(took_s / np.maximum(work_s[done], SHORT_S), 1.0)
    felt = np.zeros(len(jobs))
    felt[done] = 1 / slowdown
    span_s = log.end_s - log.begin_s
    return {
        "admitted": _ratio(float(ran.sum()), float(counts.sum())),
        "goodput_h": log.useful_s / HOUR_S,
        "goodput": _ratio(log.useful_s, capacity * span_s),
        "utilization": _ratio(log.busy_s, capacity * span_s),
        **_distribution("wait_s", (start_s - arrival_s)[ran]),
        **_distribution("completion_s", took_s),
        **_distribution("slowdown", slowdown),
        "queue": _ratio(log.waiting_s, span_s),
        "stranded": _ratio(log.stranded_s, log.free_s) if log.free_s else 0.0,
        "fragmentation": float(np.mean(log.fragmentation)) if log.fragmentation else None,
        "power_w": _ratio(log.energy_j, span_s),
        "energy_j_per_s": _ratio(log.energy_j, log.useful_s),
        "fairness": _jain(felt[counts], tenants[counts]),
        "reconfigurations": float(log.reconfigurations),
        "moves": float(log.moves),
        "interruptions": float(log.interruptions),
        "never_fit": float(log.never_fit),
    }


def timings(log: Log, spent_s: float) -> dict[str, float | None]:
    """TIMINGS by name."""
    latency_s = np.frombuffer(log.latency_s) if log.latency_s else np.zeros(1)
    return {
        "decision_s_p50": float(np.percentile(latency_s, 50)),
        "decision_s_p99": float(np.percentile(latency_s, 99)),
        "events_per_s": log.events / spent_s if spent_s else None,
    }


def _distribution(name: str, values: Floats) -> dict[str, float | None]:
    if not len(values):
        return {f"{name}_{label}": None for label in ("mean", *(f"p{p}" for p in PERCENTILES))}
    points = np.percentile(values, PERCENTILES)
    return {
        f"{name}_mean": float(values.mean()),
        **{f"{name}_p{p}": float(point) for p, point in zip(PERCENTILES, points, strict=True)},
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _jain(values: Floats, tenants: NDArray[np.int64]) -> float | None:
    """(sum x)^2 / (n sum x^2) of the tenants' means: 1 where all fare alike (Jain, Chiu and Hawe 1984)."""
    if not len(values):
        return None
    jobs = np.bincount(tenants)
    means = np.bincount(tenants, weights=values)[jobs > 0] / jobs[jobs > 0]
    return _ratio(float(means.sum() ** 2), len(means) * float((means**2).sum()))
