"""Streams of one training step by system, and where the time of each layer goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from costmodel.dataflow.streams.timeline import COLLECTIVES, COMPUTE, LayerTimes, Timeline
from planner.studies.reproduce.experiments.memory_latencies import Inputs, timelines
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

KINDS = {
    "forward": "#0072b2",
    "backward": "#56b4e9",
    "update": "#7a5fb0",
    "again": "#cc79a7",
    "leave": "#e69f00",
    "return": "#f0e442",
    "exchange": "#009e73",
}
"""kind of interval -> colour"""
LABELS = {"again": "recomputed", "leave": "offloaded", "return": "copied back", "exchange": "collective"}
"""what a legend calls kinds, where not by their names"""
MOST_EDGED = 150
"""intervals of a kind that are set off from each other; of more, all on a stream are one patch"""
PARTS = {
    "forward": ("forward_s", KINDS["forward"]),
    "backward": ("backward_s", KINDS["backward"]),
    "recomputed": ("remake_s", KINDS["again"]),
    "waits for copies": ("waits_for_copies_s", "#d55e00"),
    "waits for collectives": ("waits_for_exchanges_s", KINDS["exchange"]),
}
"""what the compute stream does, by layer"""
MILLI = 1e3
HEIGHT = 0.7


def memory_streams(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw streams to the left and layers to the right, a row for each system; the first panel."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    found = timelines(inputs)
    grid, figure = _grid(ax, len(found)), ax.get_figure(root=False)
    assert figure is not None
    ax.remove()
    first: list[Axes] = []
    for row, (system, timeline) in enumerate(found.items()):
        streams = figure.add_subplot(grid[row, 0])
        layers = figure.add_subplot(grid[row, 1])
        stream_rows(streams, timeline)
        layer_bars(layers, timeline)
        streams.set_title(f"{system}: {inputs.shown.network}, {inputs.shown.parallel}-parallel", fontsize=10)
        first.append(streams)
        if row == 0:
            streams.legend(frameon=False, fontsize=7.5, ncols=3, loc="upper right", bbox_to_anchor=(1.0, 1.0))
            layers.legend(frameon=False, fontsize=7.5)
    first[-1].set_xlabel("ms from the start of the step")
    return first[0]


def _grid(ax: Axes, rows: int) -> GridSpecFromSubplotSpec:
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax: lies in no grid of its figure; take one of Figure.subplots")
    return place.subgridspec(rows, 2, width_ratios=(3, 2))


def stream_rows(ax: Axes, timeline: Timeline) -> None:
    """A row for each stream: kernels, copies on each link, collectives."""
    streams = [COMPUTE, *(link.name for link in timeline.links), COLLECTIVES]
    intervals = list(timeline.intervals())
    for kind, colour in KINDS.items():
        chosen = [each for each in intervals if each.kind == kind]
        if chosen:
            starts = np.array([each.start_s for each in chosen]) * MILLI
            widths = np.array([each.end_s for each in chosen]) * MILLI - starts
            rows, label = np.array([streams.index(each.stream) for each in chosen]), LABELS.get(kind, kind)
            if len(chosen) <= MOST_EDGED:
                ax.barh(rows, widths, HEIGHT, left=starts, color=colour, label=label, edgecolor="white", linewidth=0.3)
                continue
            for row in np.unique(rows).tolist():
                spans = np.stack([starts, widths], axis=1)[rows == row].tolist()
                ax.broken_barh(spans, (row - HEIGHT / 2, HEIGHT), facecolors=colour, linewidth=0.0, label=label)
                label = "_nolegend_"
    ax.set_yticks(range(len(streams)), streams)
    ax.set_ylim(len(streams) - 0.4, -1.1)
    ax.set_xlim(0, timeline.end_s * MILLI)
    ax.tick_params(axis="y", length=0)


def layer_bars(ax: Axes, timeline: Timeline) -> None:
    """Time of the compute stream by layer, stacked, and the copies of each layer's tensors as marks."""
    times: LayerTimes = timeline.by_layer()
    layers = timeline.program.graph.layers
    places, bottom = np.arange(len(layers)), np.zeros(len(layers))
    for label, (name, colour) in PARTS.items():
        values = getattr(times, name) * MILLI
        if values.any():
            ax.bar(places, values, 0.75, bottom=bottom, color=colour, label=label)
            bottom += values
    if times.copy_s.any():
        ax.plot(places, times.copy_s * MILLI, "_", color="#1d2530", markersize=9, markeredgewidth=2, label="copies")
    ax.set_xticks(places, layers, rotation=60, ha="right", fontsize=7.5)
    ax.set_ylabel("ms")
    ax.set_ylim(0, 1.08 * max(bottom.max(), MILLI * times.copy_s.max()))
