"""Tensor degree of the mapping of highest MFU by model size; groups reckoned back from the paper as rings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.plotting.style import palette
from planner.studies.reproduce.experiments.mapping_search import Inputs
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":")


def mapping_degrees(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a line for each memory (colour) and reach of fast links (style), none where no mapping fits."""
    inputs, found = outcome.inputs, outcome.quantities
    assert isinstance(inputs, Inputs)
    models, theirs = [model.name for model in inputs.models], {row.quantity: row for row in outcome.rows}
    systems = list(inputs.capacities)
    for number, (system, colour) in enumerate(zip(systems, palette(len(systems)), strict=True)):
        places = np.arange(len(models)) + 0.12 * (number - (len(systems) - 1) / 2)
        for domain, style in zip(inputs.domains, STYLES, strict=False):
            names = [f"tensor degree of {model} {system}, domains of {domain}" for model in models]
            label = f"{system}, fast links join {domain}"
            line = ax.plot(places, [found.get(name, np.nan) for name in names], style, color=colour, label=label)[0]
            line.set(marker="x", markersize=4, linewidth=1.2)
        groups = [theirs[f"tensor group of {model} {system}"].published_number for model in models]
        ax.plot(places, groups, linestyle="", marker="o", markersize=7, fillstyle="none", color=colour)
    ax.plot([], [], linestyle="", marker="o", fillstyle="none", color="#59626e", label="reckoned back from energies")
    ax.set_yscale("log", base=2)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_xticks(range(len(models)), models)
    ax.set_xlabel("model size (parameters)")
    ax.set_ylabel("tensor degree (accelerators)")
    ax.set_title("Mapping of highest MFU", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax
