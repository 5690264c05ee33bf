"""Means over seeds with intervals, and paired differences between policies and between clusters."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.replay.cell import Cell, Outcome
from planner.replay.measures import MEASURES, TIMINGS
from planner.slices.estimates import estimate

FEWEST_SEEDS = 5
"""below there are no intervals"""


@dataclass(frozen=True)
class Row:
    """One measure of one policy on one cluster at one load; half widths are those of 95 % intervals."""

    cluster: str
    policy: str
    load: float | None
    measure: str
    unit: str
    seeds: int
    """that have the measure"""
    mean: float | None
    half_width: float | None
    less_policy: float | None
    """mean of the difference to the first policy on the same cluster, seed by seed"""
    less_policy_half_width: float | None
    less_cluster: float | None
    """mean of the difference to the same policy on the first cluster"""
    less_cluster_half_width: float | None


def summarize(outcomes: Mapping[Cell, Outcome], *, with_timings: bool = False) -> list[Row]:
    """Rows by load, cluster, policy and measure, in the order of the cells; timings differ from run to run."""
    groups: dict[tuple[float | None, str, str], list[Cell]] = {}
    for cell in outcomes:
        groups.setdefault((cell.load, cell.cluster, cell.policy), []).append(cell)
    cells = list(outcomes)
    first_cluster, first_policy = cells[0].cluster, cells[0].policy
    measures = {**MEASURES, **TIMINGS} if with_timings else MEASURES
    rows = []
    for load in dict.fromkeys(cell.load for cell in cells):
        for (of_load, cluster, policy), group in groups.items():
            if of_load != load:
                continue
            for name, measure in measures.items():
                own = _values(outcomes, group, name)
                other_policy = _values(outcomes, groups[load, cluster, first_policy], name)
                other_cluster = _values(outcomes, groups[load, first_cluster, policy], name)
                rows.append(
                    Row(
                        cluster, policy, load, name, measure.unit, len(own),
                        *_interval(list(own.values())),
                        *_difference(own, other_policy, is_same=policy == first_policy),
                        *_difference(own, other_cluster, is_same=cluster == first_cluster),
                    )
                )  # fmt: skip
    return rows


def _values(outcomes: Mapping[Cell, Outcome], cells: Sequence[Cell], name: str) -> dict[int, float]:
    """Values by seed, of seeds that have one."""
    found = {}
    for cell in cells:
        outcome = outcomes[cell]
        value = outcome.figures.get(name, outcome.timings.get(name))
        if value is not None:
            found[cell.seed] = value
    return found


def _difference(
    own: Mapping[int, float], other: Mapping[int, float], *, is_same: bool
) -> tuple[float | None, float | None]:
    if is_same:
        return None, None
    return _interval([own[seed] - other[seed] for seed in own if seed in other])


def _interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    if len(values) < FEWEST_SEEDS:
        return float(np.mean(values)), None
    found = estimate(np.array(values)[:, None])
    return float(found.mean[0]), float(found.half_width[0])


def to_records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as plain mappings."""
    return [dict(vars(row)) for row in rows]


def to_csv(rows: Iterable[Row]) -> str:
    """Rows as CSV with a header; an empty cell is None."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row.__dataclass_fields__)
    writer.writerows(vars(row).values() for row in rows)
    return text.getvalue()
