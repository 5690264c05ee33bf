"""Shared by the tests of `headline` and `verdict`."""

from collections.abc import Sequence
from typing import Any

from planner.report.replay.sheet import Sheet
from planner.report.replay.verdict import verdict
from planner.simulate.measures import MEASURES
from tests.planner.report.replay.small import made_up

BASE, OTHER, THIRD = ("tree", "first"), ("light", "first"), ("light", "best")
NOISE = (0.0, 0.02, -0.01, 0.01, -0.02)


def columns(work: float, time_s: float, energy: float, *, own: Sequence[float] = NOISE) -> dict[str, list[float]]:
    """Figures of five seeds around some means; all runs share the noise but for `own`."""
    seeds = range(len(own))
    return {
        "admitted": [1.0 for _ in seeds],
        "goodput": [work + NOISE[i] + 0.001 * i * (own is not NOISE) + (own[i] - NOISE[i]) for i in seeds],
        "completion_s_mean": [time_s * (1 + own[i]) for i in seeds],
        "energy_wh_per_accelerator_h": [energy * (1 + own[i]) for i in seeds],
        "wait_s_p95": [time_s / 2 for _ in seeds],
    }


def judged(values: dict[tuple[str, str], dict[str, list[float]]]) -> tuple[Sheet, dict[str, Any]]:
    sheet = Sheet(made_up(values))
    return sheet, verdict(sheet, 0.9, MEASURES, "easy")
