"""Figures of one replay from its log."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.simulate.log import HOUR_S, Log
from planner.simulate.runs import Jobs
from planner.simulate.trace import asked_s

Floats = NDArray[np.float64]
SHORT_S = 10.0
"""slowdown is over this at least, so that jobs of seconds do not rule its mean (bounded slowdown)"""
PERCENTILES = (50, 95, 99)


class Measure(NamedTuple):
    """One figure."""

    title: str
    unit: str
    """empty for shares and pure numbers"""
    meaning: str
    better: Literal["more", "less", ""] = ""
    is_share: bool = False
    """of one, told in per cent"""
    is_money: bool = False
    """told without prefixes"""


def _times(name: str, title: str, meaning: str, unit: str) -> dict[str, Measure]:
    labels = {"mean": "mean", **{f"p{p}": f"{p}th percentile of the" for p in PERCENTILES}}
    return {
        f"{name}_{label}": Measure(f"{title} {label}", unit, f"{words} {meaning}", "less")
        for label, words in labels.items()
    }


MEASURES: dict[str, Measure] = {
    "offered": Measure(
        "offered load", "", "share of the accelerators that jobs would hold, at recorded durations and did none wait",
        "", True,
    ),
    "admitted": Measure("admitted", "", "share of the jobs that ran", "more", True),
    "goodput_h": Measure("work done", "h", "accelerator-hours of the reference whose work was done", "more"),
    "goodput": Measure(
        "goodput", "",
        "work done over accelerators and time: above the utilization where jobs run faster than on the reference",
        "more", True,
    ),
    "utilization": Measure("utilization", "", "share of the accelerators held by jobs", "", True),
    **_times("wait_s", "wait", "time from arrival to start", "s"),
    **_times("completion_s", "completion", "time from arrival to end", "s"),
    **_times("slowdown", "slowdown", "time from arrival to end over the recorded duration, or 10 s", ""),
    "queue": Measure("queue", "", "mean number of waiting jobs", "less"),
    "stranded": Measure(
        "stranded", "", "share of the free accelerators left while a waiting job asked for no more than were free",
        "less", True,
    ),
    "fragmentation": Measure("fragmentation", "", "mean of the objective, where the fabric has it", "less"),
    "power_w": Measure("power", "W", "mean power of the jobs"),
    "energy_wh_per_accelerator_h": Measure(
        "energy per accelerator-hour", "Wh",
        "of the jobs, for an accelerator-hour of work: what an accelerator of the reference does in an hour", "less",
    ),
    "fairness": Measure(
        "fairness", "", "Jain index over tenants of the mean 1 / slowdown, refused jobs counting 0", "more"
    ),
    "reconfigurations": Measure("circuits set", "", "starts and moves of jobs that set optical circuits"),
    "moves": Measure("moves", "", "running jobs that were placed elsewhere", "less"),
    "interruptions": Measure("interruptions", "", "running jobs that lost a part to a failure", "less"),
    "never_fit": Measure("never fit", "", "jobs for which the empty cluster has no place", "less"),
}  # fmt: skip
TIMINGS: dict[str, Measure] = {
    "decision_s_p50": Measure("decision", "s", "median wall time of the decisions of one event", "less"),
    "decision_s_p99": Measure("decision p99", "s", "99th percentile of the same", "less"),
    "events_per_s": Measure("events", "1/s", "events of the replay in a second of processor time", "more"),
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
    size = np.array([kind.size for kind in jobs.kind])
    return {
        "offered": _ratio(asked_s(arrival_s, work_s, size, log.begin_s, log.end_s), capacity * span_s),
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
        "energy_wh_per_accelerator_h": _ratio(log.energy_j, log.useful_s),
        "fairness": _jain(felt[counts], tenants[counts]),
        "reconfigurations": float(log.reconfigurations),
        "moves": float(log.moves),
        "interruptions": float(log.interruptions),
        "never_fit": float(log.never_fit),
    }


def timeline(log: Log) -> dict[str, Any] | None:
    """Averages over equal stretches from `begin_s` to `end_s` of accelerators held, jobs waiting, accelerators left.

    Exact: average times length, summed, is the integral behind the measure of the same name. None without such time.
    """
    if not log.marks:
        return None
    integrals = np.diff(np.array(log.marks), axis=0, prepend=0.0)
    averages = integrals * len(log.marks) / (log.end_s - log.begin_s)
    columns = zip(("busy", "queue", "stranded"), averages.T.tolist(), strict=True)
    return {"begin_s": log.begin_s, "end_s": log.end_s, **dict(columns)}


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
