"""Intensities beside ridges, and gains in iteration time, of training and inference: figure 3 of SiPAM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.studies.reproduce.experiments.pool_gains import Gain, Inputs, gains
from planner.studies.reproduce.experiments.pool_rooflines import NORMALIZED, OWN, PHASES, READINGS
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {OWN: "#0072b2", NORMALIZED: "#e69f00"}
BAR = 0.38
"""width of a bar, of one place a workload"""
GREY, DARK = "#59626e", "#1d2530"


def pool_gains(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw four panels in the place of `ax`; the first of them."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    place = ax.get_subplotspec()
    figure = ax.get_figure(root=False)
    assert place is not None
    assert figure is not None
    grid = place.subgridspec(1, 4)
    ax.remove()
    row = [figure.add_subplot(grid[0])]
    row.append(figure.add_subplot(grid[1], sharey=row[0]))
    row.append(figure.add_subplot(grid[2]))
    row.append(figure.add_subplot(grid[3], sharey=row[2]))
    every = gains(inputs)
    for number, phase in enumerate(PHASES):
        of_phase = [each for each in every if each.given.phase == phase]
        _intensities(row[number], inputs, of_phase)
        _gains(row[2 + number], outcome, of_phase, phase)
        row[number].set_title(f"({'ab'[number]}) {phase}", fontsize=10)
        row[2 + number].set_title(f"({'cd'[number]}) {phase}", fontsize=10)
        for panel in (row[number], row[2 + number]):
            panel.set_xticks(range(len(inputs.models)), _ticks(inputs, of_phase), rotation=45, fontsize=8)
    row[0].set(yscale="log", ylabel="FLOP/B")
    row[2].set(ylabel="iteration time of the baseline over that of the pool")
    for panel in row:
        panel.grid(axis="y", color="#e3e7ec", linewidth=0.6)
        panel.set_axisbelow(True)
    if any(each.given.allocation.stop != "fixed point" for each in every):
        row[1].set_xlabel("* no fixed point", fontsize=8)
    for panel in row[::2]:
        panel.legend(frameon=False, fontsize=7.5, loc="upper left" if panel is row[0] else "upper right")
    return row[0]


def _ticks(inputs: Inputs, of_phase: list[Gain]) -> list[str]:
    """Workloads, with a star where the method found no fixed point under some reading."""
    unsettled = {each.given.label for each in of_phase if each.given.allocation.stop != "fixed point"}
    return [f"{label}*" if label in unsettled else label for label in inputs.models]


def _intensities(panel: Axes, inputs: Inputs, of_phase: list[Gain]) -> None:
    """Intensities of each workload, and the compute intensities of pool and baseline."""
    labels = list(inputs.models)
    for reading in READINGS:
        given = [each.given for each in of_phase if each.given.reading == reading]
        places = np.array([labels.index(each.label) for each in given])
        if reading == OWN:
            whole = [each.whole.flops_per_byte[0] for each in given]
            panel.bar(places, whole, 0.7, color="#d7dce2", label="workload, undivided")
            divided = [each.divided.flops_per_byte[0] for each in given]
            panel.plot(places, divided, "x", color=DARK, markersize=6, label="workload over its accelerators")
        ridges = [inputs.flops_per_s / each.bytes_per_s for each in given]
        mark = "o" if reading == OWN else "s"
        panel.plot(
            places, ridges, mark, color=COLOURS[reading], fillstyle="none", markersize=7, label=f"pool, {reading}"
        )
    device = inputs.baseline.device
    panel.axhline(inputs.flops_per_s / device.memory_bytes_per_s, color=GREY, linewidth=1.0, label="baseline")


def _gains(panel: Axes, outcome: ExperimentOutcome, of_phase: list[Gain], phase: str) -> None:
    """Bars with as many accelerators on both systems; diamonds where capacity decides; the published largest."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    labels = list(inputs.models)
    for number, reading in enumerate(READINGS):
        of = [each for each in of_phase if each.given.reading == reading]
        places = np.array([labels.index(each.given.label) for each in of]) + (number - 0.5) * BAR
        panel.bar(places, [each.equal for each in of], BAR, color=COLOURS[reading], label=f"{reading}, equal N_c")
        panel.plot(
            places, [each.sized for each in of], "D", color=DARK, fillstyle="none", markersize=4,
            label="N_c by capacity" if number else "_",
        )  # fmt: skip
    published = {row.quantity: row.published_number for row in outcome.rows}
    largest = published.get(f"largest {phase} gain, {OWN}")
    if largest is not None:
        panel.axhline(largest, color="#d55e00", linestyle="--", linewidth=1.0, label="published largest")
    panel.axhline(1.0, color=GREY, linewidth=1.0, label="baseline")
