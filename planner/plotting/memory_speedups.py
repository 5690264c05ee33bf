"""Speed-up of each system over the one with a port into the host, by network, and the means; figure 13 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from costmodel.dataflow.streams.memory_study import load_memory_study
from planner.plotting.panels import legend_below, panels
from planner.studies.reproduce.experiments.memory_runs import (
    HOST_LINKS,
    LOCAL,
    ORACLE,
    PCIE,
    RING,
    STAR,
    StudyRuns,
    harmonic_mean,
)
from planner.studies.reproduce.experiments.memory_speedups import Inputs
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {HOST_LINKS: "#e69f00", STAR: "#cc79a7", LOCAL: "#56b4e9", RING: "#0072b2", ORACLE: "#59626e"}
WAYS = ("data-parallel", "model-parallel")
BAR = 0.16
"""width, of one place a network"""


def memory_speedups(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a panel for each way of training in the place of `ax`; the first of them."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    study = load_memory_study(inputs.study)
    runs, row = StudyRuns(study), panels(ax, WAYS)
    labels = [*study.networks, "harmonic\nmean"]
    published = {each.quantity: each.published_number for each in outcome.rows}
    for way, panel in enumerate(row):
        for number, (system, colour) in enumerate(COLOURS.items()):
            gain = runs.over(system, PCIE)[way]
            places = np.arange(len(labels)) + (number - (len(COLOURS) - 1) / 2) * BAR
            panel.bar(places, [*gain, harmonic_mean(gain)], BAR, color=colour, label=system)
            mean = published.get(f"{system} over {PCIE}, {WAYS[way]}")
            if mean is not None:
                panel.plot(places[-1], mean, "_", color="#d55e00", markersize=9, markeredgewidth=2.5, label="published")
        panel.axhline(1.0, color="#59626e", linewidth=0.8)
        panel.set_yscale("log", base=2)
        panel.set_xticks(range(len(labels)), labels, rotation=35, ha="right", fontsize=8.5)
        panel.tick_params(axis="x", length=0)
        panel.grid(axis="x", visible=False)
        panel.set_axisbelow(True)
    ticks = (0.5, 1, 2, 4, 8, 16)
    row[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    row[0].set_ylabel(f"speed-up over {PCIE}")
    _one_legend(row)
    return row[0]


def _one_legend(row: list[Axes]) -> None:
    """Each label once."""
    seen: set[str] = set()
    for handle, label in zip(*row[0].get_legend_handles_labels(), strict=True):
        handle.set_label("_" if label in seen else label)
        seen.add(label)
    legend_below(row, len(seen))
