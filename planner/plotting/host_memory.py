"""Bandwidth of the host's memory that copies use, by system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.plotting.style import palette
from planner.studies.reproduce.experiments.host_memory import Inputs
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

READINGS = {"least use of": "least of a step", "mean use of": "mean of all steps", "most use of": "most of a step"}
GB = 1e9


def host_memory(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a group of bars for each system, the links' rate and the socket's as lines."""
    inputs, found = outcome.inputs, outcome.quantities
    assert isinstance(inputs, Inputs)
    systems = [name.removeprefix("links of ") for name in found if name.startswith("links of ")]
    places = np.arange(len(systems), dtype=np.float64)
    for number, ((key, label), colour) in enumerate(zip(READINGS.items(), palette(len(READINGS)), strict=True)):
        heights = [found[f"{key} {system}"] / GB for system in systems]
        ax.bar(places + 0.26 * (number - 1), heights, 0.24, color=colour, label=label)
    rates = [found[f"links of {system}"] / GB for system in systems]
    ax.plot(places, rates, linestyle="", marker="_", markersize=60, color="#1d2530")
    ax.plot([], [], color="#1d2530", label="all links of a socket")
    socket = inputs.socket_bytes_per_s / GB
    ax.axhline(socket, color="#59626e", linewidth=0.8, linestyle=":", label="memory of a socket")
    ax.set_xticks(places, systems)
    ax.set_ylabel("bandwidth of one socket's memory (GB/s)")
    ax.set_title("What copies use of the host's memory", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax
