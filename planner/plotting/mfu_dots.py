"""MFU against the number of accelerators: a dot for each valid mapping, the best ones marked, systems side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from planner.studies.reproduce.experiments import training_gain
from planner.studies.reproduce.experiments.training_gain import BANDWIDTH, BASELINE, BOTH, Dots
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {BASELINE: "#d55e00", BANDWIDTH: "#e69f00", BOTH: "#0072b2"}
MOST = 400
"""dots drawn for each system and number of accelerators: of more, these, evenly spaced by rank, both ends included"""
BESIDE, WIDTH, GAP = 0.28, 0.2, 2.5
"""between systems, of the dots of one system, and between two workloads, of one place a number of accelerators"""


def mfu_dots(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw the mappings of the menu, and of the other menu the best alone."""
    inputs = outcome.inputs
    assert isinstance(inputs, training_gain.Inputs)
    labels = list(inputs.workloads)
    sizes = inputs.sweep.sizes
    left = {label: number * (len(sizes) + GAP) for number, label in enumerate(labels)}
    drawn, devices = list(training_gain.dots(inputs)), training_gain.systems(inputs)
    for number, system in enumerate(COLOURS):
        shift = BESIDE * (number - (len(COLOURS) - 1) / 2)
        of_system = [each for each in drawn if each.system == system]
        places = [left[each.label] + sizes.index(each.num_devices) + shift for each in of_system]
        _draw_system(ax, of_system, np.array(places), COLOURS[system])
        memory = f"{devices[system].memory_bytes_per_s / 1e12:.3g} TB/s, {devices[system].capacity_bytes / 1e9:.3g} GB"
        ax.plot([], [], "o", color=COLOURS[system], markersize=4, label=f"{system}: {memory}")
    for each in drawn:
        if each.num_devices == sizes[-1] and each.system in (BASELINE, BOTH):
            _name_best(ax, each, left[each.label] + len(sizes) - 0.5)
    ax.plot([], [], "_", color="black", markersize=8, label=f"best, {inputs.sweep.menu}")
    ax.plot([], [], "D", color="black", markersize=4, fillstyle="none", label=f"best, {inputs.sweep.beside}")
    for label, start in left.items():
        middle = start + (len(sizes) - 1) / 2
        ax.text(middle, 1.01, label.upper(), transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=9)
    ticks = [start + place for start in left.values() for place in range(0, len(sizes), 2)]
    ax.set_xticks(ticks, [_short(size) for _ in labels for size in sizes[::2]], fontsize=8)
    ax.set_xlim(-1, max(left.values()) + len(sizes) + 1.0)
    ax.set_ylim(0, None)
    ax.set_xlabel(f"GPUs (of more than {MOST} mappings of a system, {MOST} evenly spaced by rank are drawn)")
    ax.set_ylabel("MFU")
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def thinned(values: NDArray[np.float64], most: int = MOST) -> NDArray[np.float64]:
    """At most so many of sorted values, evenly spaced by rank, with the first and the last."""
    if len(values) <= most:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, most).round().astype(int)])


def _draw_system(ax: Axes, dots: list[Dots], places: NDArray[np.float64], colour: str) -> None:
    """Dots beside each other so that they do not hide each other, and marks for the best."""
    shown = [thinned(each.mfu) for each in dots]
    spread = [place + WIDTH * (_scattered(len(y)) - 0.5) for place, y in zip(places, shown, strict=True)]
    ax.plot(
        np.concatenate(spread), np.concatenate(shown), ".", color=colour, markersize=1.2, alpha=0.5, rasterized=True
    )
    best = [each.mfu[-1] if len(each.mfu) else np.nan for each in dots]
    ax.plot(places, best, "_", color="black", markersize=5, markeredgewidth=1.5, zorder=3)
    ax.plot(places, [each.best_beside for each in dots], "D", color=colour, markersize=3, fillstyle="none", zorder=3)


def _scattered(number: int) -> NDArray[np.float64]:
    """Shares in [0, 1) that neighbours do not have alike: multiples of the golden ratio, less whole numbers."""
    return np.arange(number, dtype=np.float64) * 0.6180339887498949 % 1.0


def _name_best(ax: Axes, each: Dots, place: float) -> None:
    """MFU of the best mapping, right of the last place."""
    if len(each.mfu):
        ax.annotate(
            f"{each.mfu[-1]:.2f}", (place, each.mfu[-1]), va="center", fontsize=7, color=COLOURS[each.system],
        )  # fmt: skip


def _short(size: int) -> str:
    """4096 -> 4k."""
    return f"{size // 1024}k" if size >= 1024 and size % 1024 == 0 else str(size)
