"""Rows of the same policy on the same variant as one line: means over seeds with 95 % intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from planner.statistics import estimate
from planner.studies.compare.comparable import AMONG_MOST_JOBS, SAME, with_most_jobs
from planner.studies.compare.rows import PolicyRow

FIGURES = (
    "value", "bound", "gap", "admitted", "devices_used", "energy", "power_w", "tokens_per_s", "joules_per_token",
    "samples_per_s", "joules_per_sample", "cost_per_h", "cost_per_million_tokens", "cost_per_million_samples",
    "fragmentation", "violations", "wall_time_s",
)  # fmt: skip
MOST = ("value", "admitted", "tokens_per_s", "samples_per_s")
"""figures of which more is better"""
NEITHER = ("bound", "devices_used", "violations")


@dataclass(frozen=True)
class Mean:
    """Over seeds that have the figure; a half width of the 95 % interval from two seeds on."""

    mean: float
    half_width: float | None


@dataclass(frozen=True)
class PolicySummary:
    """A policy on a variant."""

    first: PolicyRow
    """of the first seed"""
    seeds: int
    plans: int
    """seeds with a plan"""
    figures: Mapping[str, Mean]
    """those that any seed has"""


def summarize(rows: Sequence[PolicyRow]) -> list[PolicySummary]:
    """Lines in the order of the rows."""
    lines = []
    for _, group in groupby(rows, key=lambda row: (row.instance, str(row.parameters), row.policy)):
        of_policy = list(group)
        with_plan = [row for row in of_policy if row.value is not None]
        columns = {name: [getattr(row, name) for row in with_plan] for name in FIGURES}
        columns["wall_time_s"] = [row.wall_time_s for row in of_policy]
        figures = {name: mean for name, column in columns.items() if (mean := _mean(column)) is not None}
        lines.append(PolicySummary(of_policy[0], len(of_policy), len(with_plan), figures))
    return lines


def _mean(values: Sequence[Any]) -> Mean | None:
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if len(known) < 2:
        return Mean(float(known[0]), None) if len(known) else None
    found = estimate(known[:, None])
    return Mean(float(found.mean[0]), float(found.half_width[0]))


def best(lines: Sequence[PolicySummary]) -> dict[str, set[int]]:
    """Of the lines of one variant those with the best mean by figure, among policies whose plans all hold."""
    sound = [i for i, line in enumerate(lines) if line.plans == line.seeds and not _of(line, "violations")]
    if len(lines) < 2 or not sound:
        return {}
    full = with_most_jobs({i: _of(lines[i], "admitted") or 0.0 for i in sound})
    return {
        name: set(_extreme(lines, full if name in AMONG_MOST_JOBS else sound, name, 1 if name in MOST else -1))
        for name in FIGURES
        if name not in NEITHER
    }


def undecided(rows: Sequence[PolicyRow]) -> list[str]:
    """Variants whose best value is below that of another one, although their bound is above it: not proven worse."""
    best: dict[str, tuple[float, float | None]] = {}
    for row in rows:
        given = ", ".join(f"{name}={value}" for name, value in row.parameters.items())
        name = f"{row.instance} with {given}" if given else row.instance
        value = row.value if row.value is not None else 0.0
        best[name] = max(best.get(name, (0.0, None))[0], value), row.bound if row.objective == "value" else None
    others = sorted(value for value, _ in best.values())
    return [
        name
        for name, (value, bound) in best.items()
        if bound is not None and any(value < other < bound * (1 - 1e-6) for other in others)
    ]


def _extreme(lines: Sequence[PolicySummary], among: Sequence[int], name: str, sign: int) -> list[int]:
    """The largest, or with sign -1 the smallest."""
    known = {i: sign * mean for i in among if (mean := _of(lines[i], name)) is not None}
    most = max(known.values(), default=0.0)
    return [i for i, figure in known.items() if figure >= most - SAME * abs(most)]


def _of(line: PolicySummary, name: str) -> float | None:
    return line.figures[name].mean if name in line.figures else None
