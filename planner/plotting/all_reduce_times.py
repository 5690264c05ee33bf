"""All-reduce times against the message, a panel for each number of ranks; marks where Lumorph-4 meets another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plotting.panels import LABEL_BOX, legend_below, panels
from planner.studies.reproduce.experiments.all_reduce_algorithms import (
    BOUND,
    DOUBLE_TREE,
    LUMORPH_2,
    LUMORPH_4,
    PIPELINED_TREE,
    RING,
    UNPIPELINED_TREE,
    algorithms,
    best,
)
from planner.studies.reproduce.experiments.collective_times import AlgorithmComparison, Inputs, equal_times
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

STYLES = {
    RING: ("--", "#d55e00"),
    UNPIPELINED_TREE: ("--", "#e69f00"),
    PIPELINED_TREE: ("--", "#009e73"),
    DOUBLE_TREE: (":", "#009e73"),
    LUMORPH_2: ("-", "#56b4e9"),
    LUMORPH_4: ("-", "#0072b2"),
    BOUND: (":", "#59626e"),
}
"""line and colour; dashed on the ideal switch, dotted what no schedule attains"""
PLAN_COLOURS = ("#cc79a7", "#7a5fb0")
MET = {RING: ("o", "left"), LUMORPH_2: ("s", "right"), PIPELINED_TREE: ("^", "right")}
"""mark, and side of its label, where Lumorph-4 takes as long"""


def all_reduce_times(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a row of panels in the place of `ax`; the first of them."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    row = panels(ax, [f"{ranks} GPUs" for ranks in inputs.ranks])
    for panel, ranks in zip(row, inputs.ranks, strict=True):
        _lines(panel, inputs, ranks)
        _marks(panel, inputs, ranks)
        panel.set_xlabel("message")
    row[0].set(xscale="log", yscale="log", ylabel="time of an all-reduce")
    row[0].set_xlim(inputs.sweep.smallest_bytes, inputs.sweep.largest_bytes)
    for axis, unit in ((row[0].xaxis, "B"), (row[0].yaxis, "s")):
        _with_units(axis, unit)
    legend_below(row, 5)
    return row[0]


def _lines(panel: Axes, inputs: Inputs, ranks: int) -> None:
    """Every algorithm, best plans without exchanges that alternate."""
    messages_bytes = inputs.sweep.messages_bytes()
    plans = {best(peers): ("-", colour) for peers, colour in zip(inputs.network.peers, PLAN_COLOURS, strict=False)}
    known = algorithms(inputs.network)
    for name, (line, colour) in (STYLES | plans).items():
        time_s = known[name](messages_bytes, ranks)
        panel.plot(messages_bytes, time_s, line, color=colour, linewidth=1.4, label=_label(name))


def _marks(panel: Axes, inputs: Inputs, ranks: int) -> None:
    """Where Lumorph-4 takes as long as another, each with its message."""
    time_s = algorithms(inputs.network)[LUMORPH_4]
    for other, (mark, side) in MET.items():
        found_bytes = equal_times(inputs, AlgorithmComparison(of=LUMORPH_4, over=(other,)), ranks)
        found_s, is_left = time_s(found_bytes, ranks), side == "left"
        label = f"Lumorph-4 = {other}"
        panel.plot(found_bytes, found_s, mark, color="#1d2530", markersize=5, linestyle="", label=label, zorder=4)
        for message_bytes, each_s in zip(found_bytes, found_s, strict=True):
            offset = (-8, 3) if is_left or message_bytes >= 1e9 else (9, -9)
            text = panel.annotate(
                _size(message_bytes), (message_bytes, each_s), offset, textcoords="offset points",
                ha="right" if offset[0] < 0 else "left", fontsize=7.5, zorder=5,
            )  # fmt: skip
            text.set_bbox(LABEL_BOX)


def _size(message_bytes: float) -> str:
    """Three digits: 2.17 MB, 1.56 GB."""
    return f"{message_bytes / 1e6:.3g} MB" if message_bytes < 1e9 else f"{message_bytes / 1e9:.3g} GB"


def _label(name: str) -> str:
    switched = (RING, UNPIPELINED_TREE, PIPELINED_TREE)
    return f"{name}, ideal switch" if name in switched else f"{name}, attained by none" if name == DOUBLE_TREE else name


def _with_units(axis: Axis, unit: str) -> None:
    """Ticks such as 1 kB, 10 MB, 1 ms, each decade."""
    from matplotlib.ticker import EngFormatter, LogLocator

    axis.set_major_locator(LogLocator(10, numticks=12))
    axis.set_major_formatter(EngFormatter(unit))
