"""One step of a job: its streams, and below them the bytes of unused tensors by memory, over the same time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planner.pages.result import PageResult
from planner.pages.why import bytes_over_time
from planner.plotting.memory_streams import MILLI, stream_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from costmodel.streams.timeline import Timeline

COLOURS = ("#009e73", "#0072b2", "#e69f00", "#cc79a7", "#56b4e9", "#d55e00")
LOCAL = "#9aa5b1"
GIGA = 1e-9


def page_tiers(streams: Axes, memories: Axes, timeline: Timeline) -> Axes:
    """Draw both; the first."""
    stream_rows(streams, timeline)
    streams.legend(frameon=False, fontsize=7.5, ncols=4, loc="upper right")
    times_s, found = bytes_over_time(timeline)
    names = [name for name, size in found.items() if size.any()]
    colours = [LOCAL if name == "local" else COLOURS[i % len(COLOURS)] for i, name in enumerate(names)]
    heights = [found[name] * GIGA for name in names]
    if heights:
        labels = ["stays" if name == "local" else name for name in names]
        memories.stackplot(times_s * MILLI, heights, labels=labels, colors=colours, step="post", linewidth=0)
        memories.legend(frameon=False, fontsize=7.5, loc="upper right")
    memories.set_ylabel("GB of unused tensors")
    memories.set_xlabel("ms from the start of the step")
    memories.set_xlim(streams.get_xlim())
    return streams


def save_page_tiers(path: Path, result: PageResult, job: int) -> None:
    """Write the figure of one job as .png or .svg."""
    from matplotlib.figure import Figure

    assert result.placed is not None
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    streams, memories = figure.subplots(2, 1, height_ratios=(3, 2))
    timeline = result.problem.timeline(job, result.placed[job])
    page_tiers(streams, memories, timeline)
    streams.set_title(f"{result.problem.name}: {result.problem.tasks[job].name}", fontsize=10)
    figure.savefig(path, dpi=150)
