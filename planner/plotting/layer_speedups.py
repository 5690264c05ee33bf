"""Gain of one layer by phase, model and tokens, a bar for each system; dashes are the published means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.studies.reproduce.experiments import optical_hbm_inference
from planner.studies.reproduce.experiments.optical_hbm_inference import FAST_CACHE, OWN_CACHE, Speedups
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {OWN_CACHE: "#56b4e9", FAST_CACHE: "#0072b2"}
BAR, GAP = 0.38, 1.0
"""width of a bar, and room between two models, of one place a token count"""


def layer_speedups(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw the gains over the baseline, which is 1."""
    assert isinstance(outcome.inputs, optical_hbm_inference.Inputs)
    ticks: list[float] = []
    labels: list[str] = []
    left = 0.0
    for each in optical_hbm_inference.speedups(outcome.inputs, outcome.inputs.rules):
        places = left + np.arange(len(each.tokens))
        _bars(ax, outcome, each, places, is_first=left == 0.0)
        name = f"{each.phase} {each.model.upper()}"
        ax.text(places.mean(), 1.01, name, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=9)
        ticks += places.tolist()
        labels += [_short(count) for count in each.tokens]
        left += len(each.tokens) + GAP
    ax.axhline(1.0, color="#59626e", linewidth=0.8)
    ax.set_xticks(ticks, labels)
    ax.set_xlabel("tokens: context of a decode step, length of a prefill")
    ax.set_ylabel("gain over the baseline")
    ax.set_ylim(0, None)
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _bars(ax: Axes, outcome: ExperimentOutcome, each: Speedups, places: np.ndarray, *, is_first: bool) -> None:
    published = {row.quantity: row.published_number for row in outcome.rows}
    for number, (system, colour) in enumerate(COLOURS.items()):
        middle = places + (number - 0.5) * BAR
        ax.bar(middle, each.gains[system], BAR, color=colour, label=f"optical, {system}" if is_first else None)
        of_all = published.get(f"{each.phase} gain mean, {system}")
        mean = published.get(f"{each.phase} gain {each.model}, {system}", of_all)
        if mean is not None:
            ends = middle[0] - BAR / 2, middle[-1] + BAR / 2
            ax.plot(ends, (mean, mean), "--", color="#d55e00", linewidth=1.2, label=_once(ax, "published mean"))


def _once(ax: Axes, label: str) -> str:
    """The label the first time, a hidden one after that."""
    return "_" if label in ax.get_legend_handles_labels()[1] else label


def _short(count: int) -> str:
    """4096 -> 4k."""
    return f"{count // 1024}k" if count % 1024 == 0 else str(count)
