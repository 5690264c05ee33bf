"""One step of a job over time: its streams, where each tensor is, and the bytes of unused tensors by memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planner.pages.result import PageResult
from planner.pages.why import bytes_over_time
from planner.plotting.memory_streams import MILLI, stream_rows
from planner.plotting.page_tensors import MOST_ROWS, colours, page_tensors
from planner.plotting.style import as_written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from costmodel.dataflow.streams.timeline import Timeline

GIGA = 1e-9
WAIT = "#d62728"
STREAMS_INCHES, ROW_INCHES, BYTES_INCHES = 2.6, 0.125, 2.0


def streams_and_waits(ax: Axes, timeline: Timeline) -> Axes:
    """Streams, and in red when the kernels wait for copies."""
    stream_rows(ax, timeline)
    waits_s = timeline.waits_s[:, 0]
    starts = (timeline.starts_s - waits_s - _again_s(timeline)) * MILLI
    if waits_s.any():
        chosen = waits_s > 0
        places, widths = [0] * int(chosen.sum()), waits_s[chosen] * MILLI
        ax.barh(places, widths, 0.25, starts[chosen], color=WAIT, linewidth=0.0, label="waits for copies")
    _legend_above(ax)
    return ax


def _legend_above(ax: Axes) -> None:
    """Where it covers nothing."""
    legend = ax.legend(
        ncols=9, frameon=False, fontsize=7.5, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2
    )
    as_written(legend.get_texts())


def _again_s(timeline: Timeline) -> list[float]:
    """(O,) for which other operators run again right before each operator."""
    found = [0.0] * len(timeline.program.operators)
    for absence, start_s, end_s in timeline.remakes:
        found[timeline.program.absences[absence].before] += end_s - start_s
    return found


def memory_bytes(ax: Axes, timeline: Timeline) -> Axes:
    """Bytes of unused tensors, stacked by memory."""
    times_s, found = bytes_over_time(timeline)
    names = [name for name, size in found.items() if size.any()]
    if names:
        heights = [found[name] * GIGA for name in names]
        labels = ["stays" if name == "local" else name for name in names]
        chosen = [colours(timeline)[name] for name in names]
        ax.stackplot(times_s * MILLI, heights, labels=labels, colors=chosen, step="post", linewidth=0)
        _legend_above(ax)
    ax.set_ylabel("GB of unused tensors")
    ax.set_xlabel("ms from the start of the step")
    return ax


def save_page_tiers(path: Path, result: PageResult, job: int) -> None:
    """Write the figure of one job as .png or .svg."""
    from matplotlib.figure import Figure

    assert result.placed is not None
    timeline = result.problem.timeline(job, result.placed[job])
    heights = (STREAMS_INCHES, 0.6 + ROW_INCHES * min(len(timeline.program.absences), MOST_ROWS), BYTES_INCHES)
    figure = Figure(figsize=(11, sum(heights) + 1.2), layout="constrained")
    streams, tensors, memories = figure.subplots(3, 1, height_ratios=heights, sharex=True)
    streams_and_waits(streams, timeline)
    _legend_above(page_tensors(tensors, timeline))
    memory_bytes(memories, timeline)
    figure.suptitle(f"{result.problem.name}: {result.problem.tasks[job].name}", fontsize=10, parse_math=False)
    figure.savefig(path, dpi=150)
