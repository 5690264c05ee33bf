"""A row for each tensor: where its pages are from when it is free to leave until it is needed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.pages.why import unused_s
from planner.plotting.memory_streams import KINDS, MILLI

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from costmodel.dataflow.streams.timeline import Timeline

MEMORIES = ("#332288", "#999933", "#882255", "#44aa99", "#aa4499", "#661100")
LOCAL = "#9aa5b1"
MOST_ROWS = 60
"""where there are more tensors, these many at equal distances are shown"""
BAR = 0.8
"""of a row, filled by pages in proportion"""


def colours(timeline: Timeline) -> dict[str, str]:
    """By memory, and `local`."""
    names = [link.name for link in timeline.links]
    return {"local": LOCAL, **{name: MEMORIES[i % len(MEMORIES)] for i, name in enumerate(names)}}


def page_tensors(ax: Axes, timeline: Timeline) -> Axes:
    """Draw them in the order in which they may leave, the first on top."""
    program, placed = timeline.program, timeline.placement
    tensors = [program.graph.tensors[each.tensor] for each in program.absences]
    chosen = np.unique(np.linspace(0, len(tensors) - 1, min(len(tensors), MOST_ROWS)).astype(np.int64))
    places = np.arange(len(chosen), dtype=np.float64)
    spans = unused_s(timeline) * MILLI
    parts = np.column_stack([placed.kept_bytes, placed.moved_bytes]) / program.size_bytes[:, None]
    lefts = np.column_stack([np.zeros(len(parts)), np.cumsum(parts, axis=1)])
    widths = np.diff(spans[chosen], axis=1)[:, 0]
    for part, (name, colour) in enumerate(colours(timeline).items()):
        tops = places - BAR / 2 + BAR * lefts[chosen, part]
        label = "kept" if name == "local" else name
        ax.barh(tops, widths, BAR * parts[chosen, part], spans[chosen, 0], align="edge", color=colour, label=label)
    again = placed.is_remade[chosen]
    if again.any():
        bars = ax.barh(places[again], widths[again], BAR, spans[chosen[again], 0], label="recomputed")
        for bar in bars:
            bar.set(facecolor="none", edgecolor=KINDS["again"], linewidth=0.8)
    ax.set_yticks(places, [tensors[a].name for a in chosen.tolist()], fontsize=6, parse_math=False)
    ax.set_ylim(len(chosen) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.set_ylabel("tensors" if len(chosen) == len(tensors) else f"{len(chosen)} of {len(tensors):,} tensors")
    return ax
