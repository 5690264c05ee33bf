"""Means over seeds with intervals, and paired differences between policies and between clusters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.simulate.measures import MEASURES, Measure
from planner.simulate.run_one import Outcome, SimulationRun
from planner.statistics import estimate

Interval = tuple[float | None, float | None]
"""mean, and half the width of its 95 % interval; None where nothing is known"""


@dataclass(frozen=True)
class SummaryRow:
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


def summarize(
    outcomes: Mapping[SimulationRun, Outcome], measures: Mapping[str, Measure] = MEASURES
) -> list[SummaryRow]:
    """Rows by load, cluster, policy and measure, in the order of the cells."""
    groups: dict[tuple[float | None, str, str], list[SimulationRun]] = {}
    for cell in outcomes:
        groups.setdefault((cell.load, cell.cluster, cell.policy), []).append(cell)
    cells = list(outcomes)
    first_cluster, first_policy = cells[0].cluster, cells[0].policy
    rows = []
    for load in dict.fromkeys(cell.load for cell in cells):
        for (of_load, cluster, policy), group in groups.items():
            if of_load != load:
                continue
            for name, measure in measures.items():
                own = by_seed(outcomes, group, name)
                other_policy = by_seed(outcomes, groups[load, cluster, first_policy], name)
                other_cluster = by_seed(outcomes, groups[load, first_cluster, policy], name)
                rows.append(
                    SummaryRow(
                        cluster, policy, load, name, measure.unit, len(own),
                        *interval(list(own.values())),
                        *((None, None) if policy == first_policy else difference(own, other_policy)),
                        *((None, None) if cluster == first_cluster else difference(own, other_cluster)),
                    )
                )  # fmt: skip
    return rows


def by_seed(outcomes: Mapping[SimulationRun, Outcome], cells: Sequence[SimulationRun], name: str) -> dict[int, float]:
    """Values by seed, of seeds that have one."""
    found = {}
    for cell in cells:
        outcome = outcomes[cell]
        value = outcome.figures.get(name, outcome.timings.get(name))
        if value is not None:
            found[cell.seed] = value
    return found


def difference(own: Mapping[int, float], other: Mapping[int, float]) -> Interval:
    """Differences between two, seed by seed."""
    return interval([own[seed] - other[seed] for seed in own if seed in other])


def interval(values: Sequence[float]) -> Interval:
    """Of independent replications; one alone has no interval."""
    if not values:
        return None, None
    if len(values) == 1:
        return float(values[0]), None
    found = estimate(np.array(values)[:, None])
    return float(found.mean[0]), float(found.half_width[0])


def to_records(rows: Iterable[SummaryRow]) -> list[dict[str, Any]]:
    """Rows as plain mappings."""
    return [dict(vars(row)) for row in rows]
