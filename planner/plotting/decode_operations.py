"""A decoding step by kind of operation: on a server and on an appliance, and what a growing group adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from planner.plotting.panels import legend_below, panels
from planner.plotting.style import palette
from planner.studies.reproduce.experiments.decode_operations import KINDS, SENT, Inputs, both, overheads_s
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = (*KINDS.values(), SENT)


def decode_operations(ax: Axes, outcome: ExperimentOutcome) -> Axes:
    """Draw a row of panels in the place of `ax`; the first of them."""
    inputs = outcome.inputs
    assert isinstance(inputs, Inputs)
    row = panels(ax, ("step, server = 100 %", "overhead beyond a share of one accelerator's step"), share_x=False)
    bars, labels = [], []
    for request in inputs.comparison.requests:
        server, appliance = both(inputs.comparison, request)
        whole_s = sum(server.values())
        bars += [_shares(each, whole_s) for each in (server, appliance)]
        labels += [f"{request[0]} in\n{request[1]} out\n{name}" for name in ("server", "appliance")]
    _stack(row[0], bars, labels)
    overheads = overheads_s(inputs.profile)
    degrees = [f"{tensor} GPUs" for tensor in inputs.profile.tensor[1:]]
    _stack(row[1], [_shares(each, sum(each.values())) for each in overheads], degrees)
    row[0].set_ylabel("share (%)")
    legend_below(row, len(PARTS))
    return row[0]


def _shares(seconds: Mapping[str, float], whole_s: float) -> list[float]:
    return [100 * seconds[name] / whole_s for name in PARTS]


def _stack(panel: Axes, bars: Sequence[Sequence[float]], labels: Sequence[str]) -> None:
    """A bar for each label, of parts on each other; a part below 0 hangs from the axis."""
    heights = np.array(bars)
    above, below = (np.cumsum(part, axis=1) for part in (np.maximum(heights, 0), np.minimum(heights, 0)))
    for number, (name, colour) in enumerate(zip(PARTS, palette(len(PARTS)), strict=True)):
        height = heights[:, number]
        bottom = np.where(height >= 0, above[:, number], below[:, number]) - height
        panel.bar(range(len(labels)), height, 0.7, bottom=bottom, color=colour, label=name)
    panel.set_axisbelow(True)
    panel.grid(visible=False, axis="x")
    panel.set_xticks(range(len(labels)), labels, fontsize=7.5)
